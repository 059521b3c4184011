/** The table of operations: every row has its function, its words and its method, and is held to what it says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isSomebody, spellActor } from '../src/contract/actor.ts';
import { ERRORS } from '../src/contract/errors.ts';
import type { Recorded } from '../src/contract/event.ts';
import { inputProblem, tellProblem } from '../src/contract/input-schema.ts';
import type { Operation } from '../src/contract/operation.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../src/contract/operations.ts';
import * as outputs from '../src/contract/outputs.ts';
import { workflow } from '../src/definition/builder.ts';
import { COMMANDS } from '../src/doors/cli/table.ts';
import { Bosun } from '../src/doors/library.ts';
import { perform } from '../src/operations/perform.ts';
import { makeRepository } from './fixtures/repository.ts';

const ROWS: [OperationName, Operation][] = OPERATION_NAMES.map((name) => [name, OPERATIONS[name]]);
const SCHEMAS: Record<string, z.ZodType> = { ...outputs };
const ANNA = { kind: 'person', name: 'anna' } as const;

describe('the table', () => {
  it('has a command for every operation', () => {
    const asked = new Set(COMMANDS.flatMap(({ asks }) => asks));
    expect(OPERATION_NAMES.filter((name) => !asked.has(name))).toEqual([]);
  });

  it('has a method of the library for every operation, or a reason why not', () => {
    const others: Partial<Record<OperationName, string>> = {
      logs: 'events() gives them one page after another',
      raiseSharedBudget: 'what all runs of a user may spend is for that user to say',
      reportPage: 'report() gives it as an object',
      setConfig: 'what a user wants of all runs is for that user to say',
      unsetConfig: 'see setConfig',
      repositories: 'it is about the server of a user, not about a repository',
      servedRuns: 'see repositories',
      allowRepository: 'see repositories',
      forgetRepository: 'see repositories',
      tokens: 'see repositories',
      addToken: 'see repositories',
      revokeToken: 'see repositories',
      workers: 'a program has records of its own, and exec()',
      putWorker: 'a program has records of its own, and exec()',
      removeWorker: 'a program has records of its own, and exec()',
      templates: 'a program has records of its own, and exec()',
      putTemplate: 'a program has records of its own, and exec()',
      removeTemplate: 'a program has records of its own, and exec()',
      items: 'a program has records of its own, and exec()',
      putItem: 'a program has records of its own, and exec()',
      removeItem: 'a program has records of its own, and exec()',
      execute: 'a program has records of its own, and exec()',
      executions: 'a program has records of its own, and exec()',
      execution: 'a program has records of its own, and exec()',
      cancelExecution: 'a program has records of its own, and exec()',
      executionWorkspaces: 'a program has records of its own, and exec()',
      cleanExecution: 'a program has records of its own, and exec()',

      init: 'a program writes workflows as values',
      initMcp: 'the settings of agents are for a person to change',
      asked: 'a refusal says it, in its data',
      trust: 'a program passes trust: true each time',
      trusted: 'see trust',
      distrust: 'see trust',
      conformance: 'it is about a program of this machine, not about a repository',
      clone: 'there is no repository yet: Bosun.clone()',
      modelServer: 'startModelServer() takes the script as a value',
    };
    const methods = Object.getOwnPropertyNames(Bosun.prototype);
    expect(OPERATION_NAMES.filter((name) => !methods.includes(name) && !others[name])).toEqual([]);
    expect(Object.keys(others).filter((name) => methods.includes(name))).toEqual([]);
  });

  it.each(ROWS)('says of %s only what there is', (_, { input, errors, actors }) => {
    const fields = new Set(Object.keys(input.properties));
    const named = [
      ...(input.required ?? []),
      ...Object.entries(input.dependentRequired ?? {}).flat(2),
      ...(input.either ?? []).flat(),
    ];
    expect(named.filter((field) => !fields.has(field))).toEqual([]);
    expect(errors.filter((code) => !(code in ERRORS))).toEqual([]);
    expect(actors).toContain('person');
  });

  it.each(ROWS)('has JSON Schema for what %s gives', (_, { output }) => {
    const schema = z.toJSONSchema(SCHEMAS[output]!, { unrepresentable: 'any' });
    expect(['object', 'array']).toContain(
      schema.type ?? schema.anyOf?.map((each) => (each as { type?: string }).type)[0],
    );
  });

  it.each(ROWS)('limits every text and list that %s takes', (_, { input }) => {
    for (const [name, field] of Object.entries(input.properties)) {
      if (field.type === 'string') expect(field.maxLength, name).toBeGreaterThan(0);
      if (field.type === 'array')
        expect([field.maxItems, field.items.maxLength].every(Number), name).toBe(true);
    }
  });
});

describe('an input', () => {
  const told = (name: OperationName, input: unknown): string | undefined => {
    const problem = inputProblem(OPERATIONS[name].input, input);
    return problem && tellProblem(problem);
  };

  it.each<[OperationName, unknown, string | undefined]>([
    ['history', { limit: 3 }, undefined],
    ['history', { limit: undefined }, undefined],
    ['history', { limit: 'x' }, 'limit must be a whole number above 0, not "x"'],
    ['history', { limit: 1.5 }, 'limit must be a whole number above 0, not 1.5'],
    ['history', { limit: NaN }, 'limit must be a whole number above 0, not NaN'],
    ['history', { limt: 3 }, 'limt is not a field; there are: limit, since, state, before'],
    ['history', { toString: 3 }, 'toString is not a field; there are: limit, since, state, before'],
    ['history', [], 'the input must be an object, not a list'],
    ['history', null, 'the input must be an object, not null'],
    ['logs', { afterSeq: -1 }, 'afterSeq must be a whole number, not -1'],
    ['setBudget', { usd: 0 }, 'usd must be a number above 0, not 0'],
    ['setBudget', { usd: Infinity }, 'usd must be a number above 0, not Infinity'],
    ['setBudget', { usd: 1, agent: 'a', task: 'b' }, 'use agent or task, not both'],
    ['steer', { task: 'a' }, 'text is missing'],
    [
      'steer',
      { task: 'a', text: 'x'.repeat(65_537) },
      'text is too long: at most 65536 characters, and this one has 65537',
    ],
    ['status', { run: 5 }, 'run must be text, not 5'],
    ['status', { run: { id: 5 } }, 'run must be text, not an object'],
    ['cancel', { now: 'yes' }, 'now must be true or false, not "yes"'],
    ['answer', { answer: 'a', chosen: ['b'] }, 'use answer or chosen, not both'],
    ['wait', { runs: 'a' }, 'runs must be a list of texts, not "a"'],
    ['wait', { runs: ['a', 5] }, 'runs must be text, not 5'],
    [
      'wait',
      { runs: Array.from({ length: 1001 }, () => 'a') },
      'runs has too many entries: at most 1000, and there are 1001',
    ],
    ['diff', { attempt: 1 }, 'attempt belongs to a task: name it with task'],
    ['diff', { outside: false }, undefined],
    [
      'run',
      { source: 'x', workflow: [] },
      'workflow must be a workflow, as workflow() or loadWorkflow() gives it, not a list',
    ],
  ])('of %s that is %j is judged', (name, input, message) => {
    expect(told(name, input)).toBe(message);
  });

  it('shows of what was given no more than a line', () => {
    const said = told('history', { limit: `${'x'.repeat(1000)}\n\u001B[2J` })!;
    expect(said.length).toBeLessThan(200);
    expect(told('cancel', { now: '\u001B[2J' })).not.toContain('\u001B');
  });

  it('is refused before anything is done, with the code usage and the name of the operation', async () => {
    const around = { cwd: '/nowhere', by: ANNA };
    const refused = perform('history', { limit: 'x' } as never, around);
    await expect(refused).rejects.toMatchObject({
      code: 'usage',
      message: 'history: limit must be a whole number above 0, not "x"',
    });
    const bosun = new Bosun('/nowhere');
    await expect(bosun.merge(undefined, { squahs: true } as never)).rejects.toThrow('squahs is not a field');
    await expect(bosun.events(undefined, { afterSeq: -1 }).next()).rejects.toThrow('logs: afterSeq must be');
  });

  it('of somebody who may not ask is refused', async () => {
    const asked = perform('merge', {}, { cwd: '/nowhere', by: { kind: 'agent', name: 'review' } });
    await expect(asked).rejects.toMatchObject({
      code: 'not-trusted',
      message: 'merge is not for agents: ask a person',
    });
  });
});

describe('who acts', () => {
  it.each([
    [{ kind: 'person', name: 'anna' }, 'anna'],
    [{ kind: 'person' }, 'person'],
    [{ kind: 'program', name: 'deploy-bot' }, 'program deploy-bot'],
    [{ kind: 'program' }, 'program'],
    [{ kind: 'agent', name: 'review' }, 'agent review'],
    // Nobody's name is taken for a reason of the engine's, for another kind, or breaks a line.
    [{ kind: 'person', name: 'time-out' }, 'person time-out'],
    [{ kind: 'person', name: 'program' }, 'person program'],
    [{ kind: 'person', name: 'program x' }, 'program-x'],
    [{ kind: 'program', name: 'a\n\u001B[2Jb' }, 'program a-[2Jb'],
  ] as const)('%j is written as %j', (actor, by) => {
    expect(spellActor(actor)).toBe(by);
    expect(isSomebody(by)).toBe(true);
  });

  it('is not a reason of the engine', () => {
    expect(['time-out', 'ended', 'budget', 'policy', 'scope', 'owner a'].filter(isSomebody)).toEqual([]);
    expect(spellActor({ kind: 'program', name: 'x'.repeat(1000) })).toHaveLength(108);
  });
});

describe('what operations give', { timeout: 60_000 }, () => {
  beforeAll(() => void (process.env.BOSUN_CHECK_OUTPUT = '1'));
  afterAll(() => void delete process.env.BOSUN_CHECK_OUTPUT);

  const asks = workflow({
    name: 'asks',
    tasks: {
      one: { run: 'echo hello > one.txt' },
      ship: { needs: ['one'], approve: 'Ship it?' },
      two: { needs: ['ship'], run: 'echo two >> one.txt; sleep 0.2' },
    },
  });

  it('is as the table says, and the journal says who acted', async () => {
    await using repository = await makeRepository();
    const at = repository.path;
    const bosun = new Bosun(at, { name: 'deploy-bot' });
    const seen: Recorded[] = [];
    const live = await bosun.run(asks, { seen: (events) => seen.push(...events), usd: 5 });
    const { signal, abort } = abortable();
    const watched: Recorded[] = [];
    const attached = await bosun.attach(live.id, {
      past: true,
      seen: (events) => watched.push(...events),
      signal,
    });
    const waited = bosun.wait([live.id]);
    await until(() => seen.some(({ event }) => event.type === 'question.asked'));
    const { run } = await bosun.status();
    expect(run.questions.map(({ id }) => id)).toEqual(['ship']);
    expect((await bosun.atWork()).map(({ id }) => id)).toEqual([live.id]);
    await expect(bosun.merge()).rejects.toMatchObject({ code: 'wrong-state' });
    await expect(bosun.steer('one', 'hello')).rejects.toMatchObject({ code: 'wrong-state' });
    await expect(bosun.attach('other', { seen() {} })).rejects.toMatchObject({ code: 'not-found' });
    await bosun.setBudget({ usd: 7 });
    expect(await bosun.answer('yes', undefined, undefined, { note: 'now' })).toMatchObject({ isTaken: true });
    expect((await waited).map(({ state }) => state)).toEqual(['done']);
    await live.finished;
    expect((await attached.finished)?.state).toBe('done');
    abort();
    expect(watched.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq));
    expect(outputs.Events.safeParse(await allOf(bosun.events())).error).toBeUndefined();
    const { accounts } = await bosun.budget();
    expect(accounts).toMatchObject([{ account: 'run', limits: { usd: 7 } }]);
    expect((await bosun.history(1)).map(({ state }) => state)).toEqual(['done']);
    expect((await bosun.diff(undefined, 'two', { attempt: 1 })).patch.toString()).toContain('+two');
    expect(await bosun.merge()).toMatchObject({ kind: 'fast-forward', commits: 2 });
    expect(bysIn(seen)).toEqual(['budget.set program deploy-bot', 'question.answered program deploy-bot']);
    const report = await bosun.report();
    expect([report.run.state, report.questions[0]?.by]).toEqual(['done', 'program deploy-bot']);
    expect(await bosun.report(live.id, { written: true })).toEqual(report);
    await expect(bosun.resume()).rejects.toMatchObject({ code: 'wrong-state' });
    await expect(bosun.retry('one')).rejects.toMatchObject({ code: 'wrong-state' });
    await expect(bosun.cancel()).rejects.toMatchObject({ code: 'wrong-state' });
  });

  it('is as the table says for what keeps the house, too', async () => {
    await using repository = await makeRepository({
      files: { 'bosun.yaml': 'name: x\ntasks: { a: { run: "true" } }\n' },
    });
    const bosun = new Bosun(repository.path);
    const around = { cwd: repository.path, by: ANNA };
    expect(await bosun.check()).toMatchObject({ file: 'bosun.yaml', asks: [] });
    await expect(bosun.check('other.yaml')).rejects.toMatchObject({ code: 'invalid-workflow' });
    expect(await perform('init', {}, around)).toEqual({ file: 'bosun.yaml', written: false, trusted: false });
    expect(await perform('asked', {}, around)).toMatchObject({ source: 'bosun.yaml', fresh: [] });
    const live = await bosun.exec({ argv: ['echo', '${{ it }} "works"'], usd: 1 });
    expect((await live.finished).state).toBe('done');
    expect(await bosun.output(live.task)).toBe('${{ it }} "works"');
    await expect(bosun.output('other')).rejects.toMatchObject({ code: 'not-found' });
    await expect(bosun.exec({})).rejects.toThrow('exec: give a prompt for an agent, or argv');
    await expect(bosun.exec({ prompt: 'x', argv: ['y'] })).rejects.toThrow('use prompt or argv, not both');
    expect((await perform('reportPage', {}, around)).file).toMatch(/report\.html$/);
    expect(await bosun.workspaces()).toEqual([]);
    expect(await bosun.clean()).toEqual({ removed: [], kept: [] });
    expect(await bosun.prune({ keep: 0, confirm: async () => false })).toBeNull();
    await expect(bosun.prune({})).rejects.toMatchObject({ code: 'usage' });
    expect((await bosun.prune({ keep: 0 }))?.runs.map(({ id }) => id)).toEqual([live.id]);
    const { directory } = await perform('trust', { asked: ['reach a.test'] }, around);
    const trusted = await perform('trusted', {}, around);
    expect(trusted.find((each) => each.directory === directory)?.asked).toEqual(['reach a.test']);
    expect(await perform('distrust', {}, around)).toEqual({ directory });
    const program = { ...around, by: { kind: 'program' } } as const;
    await expect(perform('trust', { everything: true }, program)).rejects.toThrow(
      'trust is not for programs',
    );
  });

  it('ends with the signal: the run is cancelled, whoever waits or watches stops', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path, { name: 'impatient' });
    const slow = workflow({ name: 'slow', tasks: { one: { run: 'sleep 60' } } });
    const gone = AbortSignal.abort(new Error('too late'));
    await expect(bosun.run(slow, { signal: gone })).rejects.toThrow('too late');
    await expect(bosun.history()).rejects.toMatchObject({ code: 'not-found' }); // nothing was begun
    const seen: Recorded[] = [];
    const run = abortable();
    const live = await bosun.run(slow, { signal: run.signal, seen: (events) => seen.push(...events) });
    await until(() => seen.some(({ event }) => event.type === 'attempt.workspace'));
    const watch = abortable();
    const { finished } = await bosun.attach(live.id, { seen() {}, signal: watch.signal });
    const wait = abortable();
    const waiting = bosun.wait([], { signal: wait.signal }).catch((error: unknown) => error);
    const followed = bosun.events(live.id, { follow: true, signal: watch.signal });
    expect((await followed.next()).done).toBe(false);
    watch.abort();
    wait.abort();
    expect(await finished).toBeUndefined();
    await allOf(followed); // ends
    expect(await waiting).toMatchObject({ message: 'enough' });
    run.abort();
    expect((await live.finished).state).toBe('cancelled');
    expect(bysIn(seen)).toEqual(['run.cancelling program impatient']);
    for (const asked of [
      bosun.diff(undefined, undefined, { signal: gone }),
      bosun.report(undefined, { signal: gone }),
      bosun.clean({ signal: gone }),
      bosun.doctor({ signal: gone }),
      bosun.merge(undefined, { signal: gone }),
      bosun.resume(undefined, { signal: gone }),
      bosun.answer('yes', undefined, undefined, { signal: gone }),
    ])
      await expect(asked).rejects.toThrow('too late');
  });
});

function abortable(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}

async function allOf(pages: AsyncIterable<Recorded[]>): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

function bysIn(events: Recorded[]): string[] {
  return events.flatMap(({ event }) => ('by' in event ? [`${event.type} ${event.by}`] : []));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
