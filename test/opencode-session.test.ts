/** OpenCode ties a conversation to a directory; a program of our own tells how it would be started. */
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { opencode } from '../src/runtime/opencode.ts';
import type { Job } from '../src/runtime/runtime.ts';
import { Bench } from './fixtures/runtime-job.ts';

const TELLS_ARGUMENTS = `
printf '{"type":"text","sessionID":"s","part":{"messageID":"m","text":"%s"}}\\n' "$*"
printf '{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{}}}\\n'`;

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

async function startedWith(session: Job['session'], cwd: string): Promise<string> {
  const agent = { runtime: 'opencode' as const, command: ['/bin/sh', '-c', TELLS_ARGUMENTS, 'sh'] };
  const { job } = bench.job('http://127.0.0.1:9', agent, { session, cwd });
  return JSON.stringify((await opencode.run(job)).output);
}

it('goes on with a conversation where it was begun, and begins anew elsewhere', async () => {
  const session = { id: 'ses_1', fork: true };
  const [here, elsewhere] = [bench.workspace, path.join(bench.root, 'another')];
  expect(await startedWith(undefined, here)).not.toContain('--session');
  expect(await startedWith(session, here)).toContain('--session ses_1 --fork');
  expect(await startedWith(session, elsewhere)).not.toContain('--session');
  expect(await startedWith({ id: 'ses_2', fork: false }, elsewhere)).toContain('--session ses_2');
});
