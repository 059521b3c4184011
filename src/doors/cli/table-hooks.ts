/** The command about hooks. Words only: what it does is in its file. */
import type { Command } from './command.ts';
import { TRUST } from './table-options.ts';

export const HOOKS_COMMAND: Command = {
  name: 'hooks',
  group: 'Look',
  summary: 'show the hooks and notifications in effect, and where they are defined',
  asks: ['hooks'],
  arguments: [{ name: 'file', about: 'defaults to bosun.yaml', complete: 'file' }],
  options: [TRUST, { flags: '--json', about: 'print each hook as a line of JSON' }],
  examples: [
    ['hooks', 'those of your configuration, and of bosun.yaml if there is one'],
    ['hooks ci/nightly.yaml --json', 'for a program'],
  ],
  load: () => import('./commands/hooks.ts'),
};
