import path from 'node:path';
import { opencode } from '../src/runtime/opencode/opencode.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const agent = {
  runtime: 'opencode' as const,
  command: [path.join(REAL_BIN, 'opencode')],
  model: 'openai/gpt-scripted',
};

// OpenCode 1.18 loads .opencode/plugin with every setting that is said to forbid it.
runtimeCases('opencode', () => ({ runtime: opencode, agent, obeyed: ['evil-plugin'] }));
