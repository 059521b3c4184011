/** The variables that keep the `claude` program quiet and patient, whoever starts it. */
import { TIMER_MS_MAX } from '../../base/units.ts';

export const CLAUDE_VARIABLES = {
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
