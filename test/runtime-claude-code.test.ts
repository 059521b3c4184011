import path from 'node:path';
import { claudeCode } from '../src/runtime/claude-code.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

process.env.BOSUN_CLAUDE_AGENT_SDK = path.resolve(REAL_BIN, '../@anthropic-ai/claude-agent-sdk');

runtimeCases('claude-code', () => ({ runtime: claudeCode, agent: { runtime: 'claude-code' } }));
