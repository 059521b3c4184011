/** OpenCode ties a conversation to a directory; a program of our own tells how it would be started. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { opencode } from '../src/runtime/opencode/opencode.ts';
import type { Job } from '../src/runtime/runtime.ts';
import { Bench } from './fixtures/runtime-job.ts';

/** Knows of one conversation. What it is told and what it has imported is what it answers. */
const TELLS = `
case $1 in
export) echo "the words of $2"; test "$2" = ses_1; exit ;;
import) cp "$2" imported; exit ;;
esac
words=$(printf '%s; ' "$*" "$(cat)" "$(cat imported 2>&1)" | tr '\n"' '  ')
printf '{"type":"text","sessionID":"s","part":{"messageID":"m","text":"%s"}}\\n' "$words"
printf '{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{}}}\\n'`;

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

async function answered(session: Job['session'], cwd: string): Promise<string> {
  const agent = { runtime: 'opencode' as const, command: ['/bin/sh', '-c', TELLS, 'sh'] };
  const { job } = bench.job('http://127.0.0.1:9', agent, { session, cwd, prompt: 'THE-PROMPT' });
  return JSON.stringify((await opencode.run(job)).output);
}

it('goes on with a conversation where it was begun', async () => {
  expect(await answered(undefined, bench.workspace)).not.toContain('--session');
  const again = await answered({ id: 'ses_1', fork: true }, bench.workspace);
  expect(again).toContain('--session ses_1 --fork');
  expect(again).not.toContain('the words of ses_1');
});

it('brings a conversation along to where it goes on, once', async () => {
  await answered(undefined, bench.workspace);
  const elsewhere = await bench.anotherWorkspace();
  const fork = await answered({ id: 'ses_1', fork: true }, elsewhere);
  expect(fork).toContain('--session ses_1 --fork');
  expect(fork).toContain('the words of ses_1');
  expect(await answered({ id: 'ses_2', fork: false }, elsewhere)).toContain('--session ses_2');
});

it('begins anew, and is told everything, where the conversation cannot be brought along', async () => {
  await answered(undefined, bench.workspace);
  const elsewhere = await bench.anotherWorkspace();
  const anew = await answered({ id: 'ses_lost', fork: false }, elsewhere);
  expect(anew).not.toContain('--session');
  expect(anew).toContain('THE-PROMPT');
});
