/** What is known of Codex before it is started. It loads nothing of the runtime. */
import { findAgent } from '../agent/find-agent.ts';
import type { ProgramRuntime } from '../descriptor.ts';
import { CODEX_LOGIN } from './login.ts';

const PROGRAM = { name: 'codex', install: 'npm install -g @openai/codex' };

export const CODEX = {
  name: 'codex',
  load: async () => (await import('./codex.ts')).codex,
  dialects: ['openai'],
  program: PROGRAM,
  login: CODEX_LOGIN.place,
  logins: [CODEX_LOGIN],
  resume: ({ id, fork }) => [fork ? 'fork' : 'resume', id],
  // Its settings say that the repository is not trusted, so that it reads none of `.codex`.
  obeys: () => [],
  reads: () => findAgent({ program: PROGRAM })?.reads ?? [],
  needsStrictSchemas: true,
  asksNobody: 'its fence decides',
} as const satisfies ProgramRuntime;
