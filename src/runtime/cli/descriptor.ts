/** What is known of plain commands: nothing but what the workflow says. */
import type { RuntimeDescriptor } from '../descriptor.ts';
import { cli } from './cli.ts';

export const CLI: RuntimeDescriptor = {
  name: 'cli',
  load: () => Promise.resolve(cli), // a run of plain commands waits for no other runtime
  logins: [],
  obeys: () => [],
  reads: () => [],
};
