/** What is known of Claude Code before it is started. It loads neither the runtime nor the SDK. */
import { TIMER_MS_MAX } from '../../base/units.ts';
import { findAgent, packagesOf } from '../agent/find-agent.ts';
import type { ProgramRuntime } from '../descriptor.ts';
import { CLAUDE_LOGIN } from './login.ts';
import { findSdk, SDK_PACKAGE, SDK_VARIABLE } from './sdk.ts';

/** They keep the `claude` program quiet and patient, whoever starts it. */
const CLAUDE_VARIABLES = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // The gateway has the patience: it tries again, and may hold a request for as long as a person thinks. Without the
  // second one the program gives up after six minutes, whatever the first says.
  API_TIMEOUT_MS: String(TIMER_MS_MAX),
  API_FORCE_IDLE_TIMEOUT: '0',
  CLAUDE_ENABLE_STREAM_WATCHDOG: '0',
  CLAUDE_ENABLE_BYTE_WATCHDOG: '0',
  CLAUDE_CODE_MAX_RETRIES: '0',
  // Tools of our own servers are to be seen at once.
  ENABLE_TOOL_SEARCH: 'false',
  // True, and without it the program will not work unasked for root.
  IS_SANDBOX: '1',
  // CLAUDE.md is read from the directories that are named, whatever settings are read.
  CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
} as const;

const PROGRAM = { name: 'claude', install: 'npm install -g @anthropic-ai/claude-code' };

export const CLAUDE_CODE = {
  name: 'claude-code',
  load: async () => (await import('./claude-code.ts')).claudeCode,
  dialects: ['anthropic'],
  program: PROGRAM,
  sdk: {
    find: findSdk,
    install: `npm install -g ${SDK_PACKAGE} where bosun is, or name its directory in ${SDK_VARIABLE}`,
  },
  login: CLAUDE_LOGIN.place,
  logins: [CLAUDE_LOGIN],
  variables: CLAUDE_VARIABLES,
  // It is told to read no settings of the repository, and does not.
  obeys: () => [],
  reads() {
    const found = findAgent({ program: PROGRAM })?.reads;
    const sdk = found === undefined ? findSdk() : undefined;
    return found ?? (sdk === undefined ? [] : [packagesOf(sdk)]);
  },
  // Better than the gateway could, since those of its helpers are none.
  countsTurns: true,
} as const satisfies ProgramRuntime;
