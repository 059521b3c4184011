/** What is known of OpenCode before it is started. It loads nothing of the runtime. */
import { findAgent } from '../agent/find-agent.ts';
import type { ProgramRuntime } from '../descriptor.ts';

const PROGRAM = { name: 'opencode', install: 'npm install -g opencode-ai' };

export const OPENCODE = {
  name: 'opencode',
  load: async () => (await import('./opencode.ts')).opencode,
  dialects: ['anthropic', 'openai', 'gemini'],
  program: PROGRAM,
  login: { variable: 'XDG_DATA_HOME', below: '.local/share', file: 'opencode/auth.json' },
  logins: [],
  /** Nothing is fetched, shared or updated, and the repository's own settings are not read. */
  variables: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    OPENCODE_PURE: '1',
    // It asks a registry once in a new home, and waits for the answer.
    npm_config_registry: 'http://127.0.0.1:9/',
  },
  resume: ({ id, fork }) => ['--session', id, ...(fork ? ['--fork'] : [])],
  // It loads plugins from here, although its settings of the project are off: its newer half does not ask.
  obeys: () => ['.opencode', 'opencode.json', 'opencode.jsonc'],
  reads: () => findAgent({ program: PROGRAM })?.reads ?? [],
  asksNobody: 'its fence decides',
} as const satisfies ProgramRuntime;
