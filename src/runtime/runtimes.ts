/** The list of runtimes, with what is known of each: one that is added is named here, and nowhere else. */
import type { ProgramLogin } from '../contract/login.ts';
import type { RuntimeName } from '../contract/workflow.ts';
import { ACP } from './acp/descriptor.ts';
import { CLAUDE_CODE } from './claude-code/descriptor.ts';
import { CLI } from './cli/descriptor.ts';
import { CODEX } from './codex/descriptor.ts';
import type { RuntimeDescriptor } from './descriptor.ts';
import { OPENCODE } from './opencode/descriptor.ts';

/** In the order in which people are told of them. */
export const RUNTIMES_BY_NAME: Readonly<Record<RuntimeName, RuntimeDescriptor>> = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  opencode: OPENCODE,
  acp: ACP,
  cli: CLI,
};

/** Each once, though several runtimes may use it. */
export const LOGINS: readonly ProgramLogin[] = [
  ...new Set(Object.values(RUNTIMES_BY_NAME).flatMap(({ logins }) => logins)),
];
