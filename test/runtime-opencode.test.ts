import path from 'node:path';
import { opencode } from '../src/runtime/opencode/opencode.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const agent = {
  runtime: 'opencode' as const,
  command: [path.join(REAL_BIN, 'opencode')],
  model: 'openai/gpt-scripted',
};

// Reading the list of all models that it knows takes three of the eight seconds that a start costs; test/real/ does.
const env = { OPENCODE_MODELS_PATH: path.resolve('test/fixtures/no-models.json') };

// OpenCode 1.18 loads .opencode/plugin with every setting that is said to forbid it.
runtimeCases('opencode', () => ({ runtime: opencode, agent, obeyed: ['evil-plugin'], env }));
