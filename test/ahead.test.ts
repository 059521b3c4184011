/** Sandboxes that are made ahead of their attempts: for whom, and that none is ever used twice or left behind. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { chooseSandbox } from '../src/sandbox/choose.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import type { Node, State } from '../src/schedule/state.ts';
import { upcoming } from '../src/schedule/decide/upcoming.ts';
import type { Fence } from '../src/system/process/fence.ts';
import type { Prepared } from '../src/system/process/process.ts';
import { bosun } from './fixtures/cli.ts';
import { processesWith, runFenced, startFenced } from './fixtures/fenced-run.ts';
import { makeRepository } from './fixtures/repository.ts';

/** A run that has just begun. */
function begun(source: Omit<WorkflowSource, 'name'>): { state: State; running: Node[] } {
  const checked = workflow({ name: 'w', ...source });
  const created = {
    type: 'run.created',
    id: 'w-1',
    workflow: checked,
    source: 'x',
    inputs: {},
    base: 'b',
    dirty: false,
  };
  const state = create(created as Parameters<typeof create>[0], 0);
  for (let next = decide(state); next; next = decide(state)) apply(state, next, 0);
  return { state, running: [...state.nodes.values()].filter((node) => node.state === 'running') };
}

const names = (source: Omit<WorkflowSource, 'name'>, max = 4): string[] => {
  const { state, running } = begun(source);
  return upcoming(state, running, max).map(
    ({ node, from }) => `${node.id}${from ? ` from ${from.join()}` : ''}`,
  );
};
/** For a machine that others use, too. */
const SOON = { timeout: 30_000 };
const plain = { run: 'true' };
const task = (more: object): WorkflowSource['tasks'][string] => ({ ...plain, ...more });

describe('what is made ahead', () => {
  it('is the place of tasks that wait for a slot, in their order and not too many', () => {
    const tasks = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, plain]));
    expect(names({ concurrency: 2, tasks }, 2)).toEqual(['c from b', 'd from b']);
    expect(names({ concurrency: 5, tasks })).toEqual([]);
  });

  it('is also that of tasks whose needs run, where no workspace depends on those', () => {
    const chain = { a: plain, b: task({ needs: ['a'] }), c: task({ needs: ['b'] }) };
    expect(names({ workspace: 'none', tasks: chain })).toEqual(['b', 'c']);
    expect(names({ tasks: chain })).toEqual([]);
  });

  it('is nothing for what may be skipped, asked or tried again', () => {
    const tasks = {
      a: plain,
      maybe: task({ needs: ['a'], if: 'true' }),
      ask: { needs: ['a'], approve: 'sure?' },
      other: task({ needs: ['a', 'ask'] }),
    };
    expect(names({ workspace: 'none', tasks })).toEqual([]);
  });
});

describe('a sandbox that waits', () => {
  const FENCE: Fence = {
    write: [''],
    keep: [],
    grantable: [],
    mask: [],
    read: [],
    own: [],
    egress: false,
    limits: {},
  };
  const prepared = async (directory: string, limits: Fence['limits'] = {}): Promise<Prepared> => {
    const { launcher } = await chooseSandbox(directory);
    return launcher.prepare!({ cwd: directory, emptyCwd: true, fence: { ...FENCE, limits } });
  };
  const scratch = async (): Promise<{ path: string } & AsyncDisposable> => {
    const at = await mkdtemp(path.join(tmpdir(), 'bosun-ahead-'));
    return { path: at, [Symbol.asyncDispose]: () => rm(at, { recursive: true, force: true }) };
  };

  it('takes a command with its words, its environment and its input', async () => {
    await using directory = await scratch();
    const running = (await prepared(directory.path)).start({
      argv: ['/bin/sh', '-c', 'cat; echo "$A" "$1" "$HOME"; exit 3', 'sh', 'one two'],
      env: { PATH: '/usr/bin:/bin', A: 'a\nb' },
      input: 'in\n',
    });
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    expect(await running.exited).toEqual({ code: 3, signal: null });
    expect(output).toBe('in\na\nb one two /home/agent\n');
  });

  it('has no input where there is none, as a program can see', async () => {
    await using directory = await scratch();
    const running = (await prepared(directory.path)).start({
      argv: ['/usr/bin/readlink', '/proc/self/fd/0'],
      env: {},
    });
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await running.exited;
    expect(output).toBe('/dev/null\n');
  });

  it('is gone when it is not needed', async () => {
    await using directory = await scratch();
    const processes = 30_000 + (process.pid % 10_000); // stands in its command line, with a little on top
    const waiting = await prepared(directory.path, { processes });
    const marker = `inside\0${processes + 16}\0`;
    await expect.poll(() => processesWith(marker).length, SOON).toBeGreaterThan(0);
    await waiting.discard();
    expect(processesWith(marker)).toEqual([]);
  });
});

describe('a run with places made ahead', () => {
  it('gives each attempt a sandbox that nobody used before', async () => {
    await using repository = await makeRepository();
    const fresh = 'test ! -e /tmp/used && test ! -e ~/used && touch /tmp/used ~/used && echo $BOSUN_TASK';
    const tasks = Array.from({ length: 8 }, (_, n) => `  t${n}: { run: '${fresh}' }\n`).join('');
    const told = await runFenced(repository, `concurrency: 2\ntasks:\n${tasks}`);
    expect(told.code).toBe(0);
    for (let n = 0; n < 8; n += 1) expect(told.printed(`t${n}`)).toBe(`t${n}\n`);
  });

  it('leaves nothing of those that were not needed', async () => {
    await using repository = await makeRepository();
    await repository.write({
      'bosun.yaml':
        'name: f\nconcurrency: 1\ntasks:\n  a: { run: "sleep 1; false" }\n  b: { run: "true" }\n  c: { run: "true" }\n',
    });
    expect((await bosun(repository.path, 'run')).code).toBe(1);
    expect(await readdir(path.join(repository.path, '.git/bosun/sandbox/layers'))).toEqual([]);
    expect(await readdir(path.join(repository.path, '.git/bosun/sandbox/attempts'))).toEqual([]);
    expect(processesWith(repository.path)).toEqual([]);
  });

  it('leaves no process after kill -9, and the next engine takes away the rest', async () => {
    await using repository = await makeRepository();
    // It is at work until it is killed, however long it takes to make the places of the others.
    const yaml =
      'concurrency: 1\ntasks:\n  a: { run: "echo begun; [ $BOSUN_ATTEMPT -gt 1 ] || sleep 600" }\n  b: { run: "true" }\n  c: { run: "true" }\n';
    await using started = await startFenced(repository, yaml);
    await started.prints('begun');
    await expect
      .poll(async () => (await readdir(path.join(repository.path, '.git/bosun/sandbox/layers'))).length, SOON)
      .toBe(3);
    started.child.kill('SIGKILL');
    await expect.poll(() => processesWith(repository.path), SOON).toEqual([]);
    expect((await bosun(repository.path, 'resume')).code).toBe(0);
    expect(await readdir(path.join(repository.path, '.git/bosun/sandbox/layers'))).toEqual([]);
  });
});
