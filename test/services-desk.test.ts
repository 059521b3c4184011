/** Services that end while they begin: nothing of them stays, neither a way to the port nor a name. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AttemptCrew, OpenRelay } from '../src/attempt/attempt.ts';
import type { Fact } from '../src/contract/event.ts';
import { ANNOUNCEMENTS_MAX } from '../src/contract/services.ts';
import { ServicesDesk } from '../src/run/services-desk.ts';
import type { State } from '../src/schedule/state.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import { startDecided } from './fixtures/decided-run.ts';

const run = { run: 'true' };

interface Desk extends AsyncDisposable {
  desk: ServicesDesk;
  state: State;
  /** What the opening of a port and the recording of a fact wait for. */
  slow: { opening: Promise<void>; landing: Promise<void> };
  facts: string[];
  /** Ports with a relay. */
  open: Set<number>;
  serve(task: string, input: Wanted): Promise<unknown>;
}

type Wanted = Parameters<AttemptCrew['serve']>[0];

/** A desk of a run with two tasks at work, whose relays and whose journal take as long as a test wants. */
async function startDesk(): Promise<Desk> {
  const undo = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-services-'));
  undo.defer(() => removeTree(directory));
  const { state, take } = startDecided({ tasks: { a: run, b: run } });
  const slow = { opening: Promise.resolve(), landing: Promise.resolve() };
  const facts: string[] = [];
  const open = new Set<number>();
  const land = async (fact: Fact): Promise<void> => {
    await slow.landing;
    take(fact);
    if ('name' in fact) facts.push(`${fact.type} ${fact.name}`);
  };
  const desk = new ServicesDesk({ state, isOver: false }, { land }, directory);
  const relay: OpenRelay = async (port) => {
    await slow.opening;
    open.add(port);
    return {
      ended: new Promise(() => {}),
      isListening: async () => true,
      [Symbol.asyncDispose]: async () => void open.delete(port),
    };
  };
  const serve: Desk['serve'] = (task, input) => desk.toolsFor(task, 1).serve(input, relay);
  undo.defer(() => desk.close());
  return { desk, state, slow, facts, open, serve, [Symbol.asyncDispose]: () => undo.disposeAsync() };
}

it('leaves no relay where its attempt ends while the port is being opened', async () => {
  await using at = await startDesk();
  const opening = Promise.withResolvers<void>();
  at.slow.opening = opening.promise;
  const refused = expect(at.serve('a', { name: 'web', port: 80 })).rejects.toThrow(/ended/);
  const ended = at.desk.for('a', 1).ended();
  opening.resolve();
  await refused;
  await ended;
  expect([...at.open]).toEqual([]);
  expect(at.facts).toEqual([]);
});

it('leaves no name where it is stopped while its announcement is being recorded', async () => {
  await using at = await startDesk();
  const landing = Promise.withResolvers<void>();
  at.slow.landing = landing.promise;
  const refused = expect(at.serve('a', { name: 'web', port: 80 })).rejects.toThrow(/ended/);
  while (at.open.size === 0) await new Promise(setImmediate);
  await at.serve('a', { name: 'web', stop: true });
  landing.resolve();
  await refused;
  await at.desk.for('a', 1).ended();
  expect(at.facts).toEqual(['service.announced web', 'service.gone web']);
  expect([...at.open]).toEqual([]);
  await at.serve('b', { name: 'web', port: 90 });
  expect(at.state.services.get('web')).toMatchObject({ task: 'b', port: 90 });
});

it('counts every time that an attempt serves, also what it serves already', async () => {
  await using at = await startDesk();
  const answers: unknown[] = [];
  for (let n = 0; n < ANNOUNCEMENTS_MAX; n++) answers.push(await at.serve('a', { name: 'web', port: 80 }));
  expect(answers.at(-1)).toMatchObject({ isNew: false });
  await expect(at.serve('a', { name: 'web', port: 80 })).rejects.toThrow('you have served 100 times');
});
