/** A rate limit of one engine is a rate limit of all that use the key. */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Machine } from '../src/store/machine/machine.ts';
import { startProgram } from './fixtures/cli.ts';
import { KEY, NEVER, openUpstream, requestOf, transportTo } from './fixtures/upstream.ts';
import { testProgram } from './fixtures/test-program.ts';

function stateDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-pauses-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('a refusal of one process stops another one before it has sent anything, and each comes back on its own', async () => {
  const directory = stateDirectory();
  await using upstream = await openUpstream((response, _, n) =>
    n === 1 ? response.writeHead(429, { 'retry-after': '2' }).end() : response.end('ok'),
  );
  const other = startProgram([process.execPath, testProgram('send'), directory, upstream.url], process.cwd());
  await vi.waitFor(() => expect(upstream.received).toHaveLength(1), { timeout: 20_000 });
  await using machine = new Machine(directory);
  const waits: string[] = [];
  await using transport = transportTo(
    upstream.url,
    {},
    {
      pausesOf: (key) => machine.pauses.of(key),
      onWait: ({ why, tasks }) => waits.push(`${why}: ${tasks.map(({ task }) => task).join()}`),
      random: () => 1,
    },
  );
  await vi.waitFor(() => {
    const pause = machine.pauses.of(`${upstream.url} ${KEY}`).heard();
    expect(pause).toBeDefined();
  });
  await transport.send(requestOf({ task: 'mine' }), NEVER);
  expect((await other.finished).stdout).toBe('200');
  const [first, second, third] = upstream.received.map(({ atMs }) => atMs);
  expect(upstream.received).toHaveLength(3);
  expect(second! - first!).toBeGreaterThanOrEqual(1990);
  expect(third! - first!).toBeGreaterThanOrEqual(2480);
  expect(waits).toEqual(['up rate limit: mine']);
});

it('another key goes on, and no key is in the database', async () => {
  const directory = stateDirectory();
  await using machine = new Machine(directory);
  await using other = new Machine(directory);
  machine.pauses.of('a-secret-key').tell({ untilMs: Date.now() + 60_000, why: 'limit' });
  expect(other.pauses.of('a-secret-key').heard()).toMatchObject({ why: 'limit' });
  expect(other.pauses.of('b-secret-key').heard()).toBeUndefined();
  const bytes = ['', '-wal'].map((end) => readFileSync(path.join(directory, `machine.db${end}`), 'latin1'));
  expect(bytes.join('')).not.toContain('secret');
});

it('a pause from before the clock was set back makes no later one longer', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  await using machine = new Machine(stateDirectory());
  const key = machine.pauses.of('key');
  key.tell({ untilMs: Date.now() + 60_000, why: 'before' });
  vi.setSystemTime(Date.now() - 24 * 3_600_000);
  const untilMs = Date.now() + 1000;
  key.tell({ untilMs, why: 'after' });
  expect(key.heard()).toEqual({ untilMs, why: 'after' });
});
