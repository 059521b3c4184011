import path from 'node:path';
import { codex } from '../src/runtime/codex/codex.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const agent = { runtime: 'codex' as const, command: [path.join(REAL_BIN, 'codex')], model: 'gpt-scripted' };

runtimeCases('codex', () => ({ runtime: codex, agent }));
