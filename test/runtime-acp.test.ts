import path from 'node:path';
import { acp } from '../src/runtime/acp.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const command = [path.join(REAL_BIN, 'claude-agent-acp')];

runtimeCases('acp (claude-agent-acp)', () => ({
  runtime: acp,
  agent: { runtime: 'acp', command },
  cannot: ['fork'],
}));
