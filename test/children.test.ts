/** Agents with children: what is decided about them, and that a child can never do more than its parent. */
import { describe, expect, it } from 'vitest';
import type { Decision, Event, EventOf, Fact } from '../src/contract/event.ts';
import type { Task, WorkflowSource } from '../src/contract/workflow.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { parseGlob } from '../src/base/glob-syntax.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { accountsOf } from '../src/schedule/money/budget.ts';
import { nodeOf, type State } from '../src/schedule/state.ts';
import { journalHash } from '../src/report/journal-hash.ts';
import { agentOf, globsOfPeople } from '../src/schedule/workflow/agent-of.ts';
import { ownersOf } from '../src/schedule/workflow/owners.ts';
import { checksOf, renderWork } from '../src/schedule/workflow/prompt.ts';
import { startDecided } from './fixtures/decided-run.ts';

type Source = Omit<WorkflowSource, 'name'>;

const lead = { runtime: 'claude-code' as const, scope: { write: ['src/**'] } };
const AGENTS: Source['agents'] = { lead, hand: { runtime: 'claude-code' } };
const ONE: Source = { agents: AGENTS, tasks: { build: { agent: 'lead', prompt: 'Build.' } } };
const KID: Task = { needs: [], attempts: 1, agent: 'hand', prompt: 'Help.', 'on-failure': 'continue' };

let asked = 0;
function wants(task: string, name: string, more: Partial<Task> = {}, attempt = 1): Fact {
  const id = `${task}+child${++asked}`;
  return { type: 'child.requested', task, attempt, id, name, child: { ...KID, ...more } };
}

function ends(task: string, more: Partial<EventOf<'attempt.finished'>> = {}): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1, ...more };
}

const CANCELLED = { outcome: { kind: 'cancelled' } } as const;
const FAILED = { outcome: { kind: 'failed', reason: 'agent', message: 'no' } } as const;
const changed = (commit: string): Partial<EventOf<'attempt.finished'>> => ({
  collected: { commit, changed: [], changedCount: 1, refused: [], artifacts: [] },
});
/** The agent has a conversation that another attempt can go on with. */
function talks(task: string): Fact[] {
  return [
    { type: 'attempt.workspace', task, attempt: 1, workspace: `w-${task}`, base: 'c0' },
    { type: 'attempt.agent', task, attempt: 1, event: { kind: 'started', session: `s-${task}` } },
  ] as Fact[];
}
const CANCEL: Fact = { type: 'run.cancelling', mode: 'graceful', by: 'anna' };
const RESUME: Fact = { type: 'run.resumed', by: 'anna' };
const dismiss = (task: string): Fact => ({ type: 'child.cancelling', task, by: 'build' });

const refusals = (decisions: Decision[]): string[] =>
  decisions.flatMap((decision) => (decision.type === 'child.refused' ? [decision.why] : []));
const statesOf = (state: State): string =>
  [...state.nodes.values()].map((node) => `${node.id} ${node.state}`).join(', ');

describe('a child', () => {
  it('starts from what its parent started from, also where more is merged meanwhile', () => {
    const { state, take } = startDecided({
      agents: AGENTS,
      tasks: { before: { run: 'true' }, build: { agent: 'lead', prompt: 'x', needs: ['before'] } },
    });
    take(ends('before', changed('c1')));
    take({ type: 'task.merged', task: 'before', attempt: 1, commit: 'b1', result: 'c1', shadow: 's1', because: [] } as unknown as Fact); // prettier-ignore
    const [added, ...more] = take(wants('build', 'kid'));
    expect(added).toMatchObject({ type: 'child.added', child: 'build/kid', from: ['c1'] });
    expect(more.find(({ type }) => type === 'attempt.started')).toMatchObject({ from: ['c1'] });
    expect(nodeOf(state, 'build/kid').parent!.id).toBe('build');
  });

  it('has to pass what its parent has to, with the values of its parent, and then its own check as it is written', () => {
    const { state, take } = startDecided({
      ...ONE,
      tasks: {
        build: {
          agent: 'lead',
          prompt: 'x',
          check: 'test ${{ run.name }} = w',
          env: { MODE: '${{ run.id }}' },
        },
      },
    });
    take(wants('build', 'kid', { check: 'echo ${{ run.id }}', prompt: 'Say ${{ run.id }}.' }));
    const kid = nodeOf(state, 'build/kid');
    take(wants('build/kid', 'grandkid', { check: 'true' }));
    expect(checksOf(kid).map(({ command }) => command)).toEqual([
      'test ${BOSUN_CHECK_1} = w',
      'echo ${{ run.id }}',
    ]);
    expect(checksOf(nodeOf(state, 'build/kid/grandkid')).map(({ text }) => text)).toEqual([
      'test ${{ run.name }} = w',
      'echo ${{ run.id }}',
      'true',
    ]);
    expect(renderWork(state, kid)).toEqual({
      prompt: 'Say ${{ run.id }}.',
      env: { BOSUN_CHECK_1: 'w', MODE: 'w-1' },
    });
  });

  it('names neither .bosun nor a repository, also where its agent or its parent may', () => {
    const scope = { write: ['.bosun/**', 'r/**'] };
    const { state, take } = startDecided({
      agents: { lead: { ...lead, scope }, hand: { runtime: 'claude-code', scope } },
      tasks: { build: { agent: 'lead', prompt: 'x' } },
    });
    take(wants('build', 'kid'));
    expect(globsOfPeople(nodeOf(state, 'build'), 'work')).toEqual(scope.write);
    expect(globsOfPeople(nodeOf(state, 'build/kid'), 'work')).toEqual([]);
  });

  it('is paid for by its parent, its parent’s agent, and whoever pays for that', () => {
    const { state, take } = startDecided({
      agents: AGENTS,
      tasks: { plan: { agent: 'lead', prompt: 'x', expand: true } },
    });
    const made = {
      needs: [],
      attempts: 1,
      agent: { runtime: 'claude-code' },
      prompt: 'x',
    } as unknown as Task;
    take(ends('plan', { expansion: { made } }));
    take(wants('plan/made', 'kid'));
    take(wants('plan/made/kid', 'grandkid'));
    expect(accountsOf(nodeOf(state, 'plan/made/kid/grandkid'))).toEqual([
      'run',
      'agent:hand',
      'agent:task:plan/made',
      'agent:lead',
      'task:plan/made/kid/grandkid',
      'task:plan/made/kid',
      'task:plan/made',
      'task:plan',
    ]);
  });

  it('has only tool servers that its parent has too, and no more turns', () => {
    const mine = { command: 'a' };
    const { state, take } = startDecided({
      agents: {
        lead: { ...lead, turns: 5, mcp: { both: mine, other: { command: 'b' } } },
        hand: { runtime: 'claude-code', turns: 50, mcp: { both: mine, other: { command: 'c' }, own: mine } },
      },
      tasks: { build: { agent: 'lead', prompt: 'x' } },
    });
    take(wants('build', 'kid'));
    const { agent } = agentOf(nodeOf(state, 'build/kid'), 'work')!;
    expect([agent.turns, agent.mcp]).toEqual([5, { both: mine }]);
  });

  it('rests on the publications that its parent started from, and is merged after them, if anybody still wants it', () => {
    const { state, take } = startDecided({
      agents: AGENTS,
      tasks: {
        store: { run: 'true', publishes: ['db'] },
        build: { agent: 'lead', prompt: 'x', needs: ['api:db'] },
      },
    });
    take({ type: 'publication.made', task: 'store', attempt: 1, name: 'db', version: 1, commit: 'p1', changedCount: 1 } as unknown as Fact); // prettier-ignore
    take(wants('build', 'kid'));
    take(wants('build', 'gone'));
    expect(nodeOf(state, 'build/kid').started).toMatchObject({
      from: ['p1'],
      publications: [{ name: 'db', version: 1, task: 'store' }],
    });
    for (const task of ['build/kid', 'build/gone'])
      expect(take(ends(task, changed('c1')))).toMatchObject([{ type: 'merge.deferred', until: ['store'] }]);
    expect(take(dismiss('build/gone'))).toMatchObject([{ type: 'task.finished', ...CANCELLED }]);
    expect(take(ends('store', changed('c2')))).toMatchObject([{ type: 'task.merging', task: 'store' }]);
  });

  it('that its parent cancels is not merged, even if its agent ends well', () => {
    const { state, take } = startDecided(ONE);
    take(wants('build', 'kid'));
    expect(take(dismiss('build/kid'))).toMatchObject([{ type: 'attempt.stopping', task: 'build/kid' }]);
    expect(take(ends('build/kid', changed('c1')))).toMatchObject([{ type: 'task.finished', ...CANCELLED }]);
    expect(statesOf(state)).toBe('build running, build/kid cancelled');
  });
});

describe('a child is refused', () => {
  it('to whoever settles a conflict', () => {
    const { take } = startDecided({
      ...ONE,
      tasks: { build: { agent: 'lead', prompt: 'x', 'on-conflict': 'agent:hand' } },
    });
    take(ends('build', changed('c1')));
    const conflict = { files: ['a'], with: [] };
    take({ type: 'task.conflicted', task: 'build', attempt: 1, marked: 'm', conflict } as unknown as Fact);
    expect(refusals(take(wants('build', 'kid', {}, 2)))).toEqual(['whoever settles a conflict works alone']);
  });

  it('to candidates of a race, and to their judge', () => {
    const { take } = startDecided({
      ...ONE,
      tasks: { build: { agent: 'lead', prompt: 'x', race: 2, judge: { agent: 'hand' } } },
    });
    expect(refusals(take(wants('build.1', 'kid')))[0]).toContain('it works alone');
    take(ends('build.1', changed('c1')));
    take(ends('build.2', changed('c2')));
    expect(refusals(take(wants('build.3', 'kid')))[0]).toContain('it works alone');
  });

  it('to a planner, to one that is not at work, and once the run is being cancelled', () => {
    const planner = startDecided({ tasks: { plan: { run: 'true', expand: true } } });
    expect(refusals(planner.take(wants('plan', 'kid')))[0]).toContain('a planner adds tasks with its output');
    const { take } = startDecided(ONE);
    expect(refusals(take(wants('build', 'kid', {}, 7)))).toEqual(['build is not at work']);
    take(CANCEL);
    expect(refusals(take(wants('build', 'kid')))).toEqual(['the run is being cancelled']);
  });

  it('beyond five levels, and beyond a thousand', () => {
    const { state, take } = startDecided({ ...ONE, concurrency: 10 });
    let task = 'build';
    for (let level = 1; level <= 5; level++) {
      expect(refusals(take(wants(task, 'kid')))).toEqual([]);
      task += '/kid';
    }
    expect(refusals(take(wants(task, 'kid')))[0]).toContain('5 levels deep, and this would be level 6');
    for (let n = 2; n <= 1000; n++) take(wants('build', `kid${n}`));
    expect(refusals(take(wants('build', 'kid1001')))[0]).toContain('1000 children');
    expect(state.nodes.size).toBe(1005);
  });

  it('under the name of one at work; after that the name is numbered', () => {
    const { state, take } = startDecided({
      ...ONE,
      tasks: { build: { agent: 'lead', prompt: 'x', retry: { attempts: 2 } } },
    });
    take(wants('build', 'kid'));
    expect(refusals(take(wants('build', 'kid')))[0]).toContain('has a child called kid at work');
    const decided = take(ends('build', FAILED));
    expect(decided[0]).toMatchObject({ type: 'task.delayed', cancels: ['build/kid'] });
    take(ends('build/kid', CANCELLED));
    take({ type: 'timer.fired', task: 'build', attempt: 1 });
    expect(take(wants('build', 'kid', {}, 2))[0]).toMatchObject({ child: 'build/kid-2' });
    expect(nodeOf(state, 'build/kid-2')).toMatchObject({ name: 'kid-2', label: 'build/kid-2' });
  });
});

describe('a parent', () => {
  it('owns its files also with one child', () => {
    const { state, take } = startDecided({
      ...ONE,
      tasks: { ...ONE.tasks, other: { run: 'true' } },
    });
    take(wants('build', 'kid', { scope: { write: ['src/kid/**'] } }));
    const owners = ownersOf(state, nodeOf(state, 'other'), [parseGlob('src/a.ts')]);
    expect(owners.map(({ id }) => id)).toEqual(['build']);
  });

  it('that begins anew without its conversation has none of its children any more', () => {
    const { take } = startDecided({
      ...ONE,
      tasks: { build: { agent: 'lead', prompt: 'x', retry: { attempts: 2 } } },
    });
    take(wants('build', 'kid'));
    const decided = take(ends('build', { outcome: { kind: 'lost', because: 'a helper died' } }));
    expect(decided[0]).toMatchObject({ type: 'task.again', cancels: ['build/kid'] });
    expect(decided[1]).toMatchObject({ type: 'attempt.stopping', task: 'build/kid' });
    const other = startDecided(ONE);
    for (const fact of talks('build')) other.take(fact);
    other.take(wants('build', 'kid'));
    expect(other.take(ends('build', { ...changed('c1'), outcome: { kind: 'lost' } }))[0]).toEqual(
      expect.not.objectContaining({ cancels: expect.anything() as unknown }),
    );
  });

  it('that fails takes its children with it, and is then failed', () => {
    const { state, take } = startDecided(ONE);
    take(wants('build', 'kid'));
    take(wants('build/kid', 'grandkid'));
    expect(take(ends('build', FAILED))).toMatchObject([
      { type: 'task.awaiting', cancels: ['build/kid'] },
      { type: 'attempt.stopping', task: 'build/kid/grandkid' },
      { type: 'attempt.stopping', task: 'build/kid' },
    ]);
    take(ends('build/kid/grandkid', CANCELLED));
    take(ends('build/kid', CANCELLED));
    expect(statesOf(state)).toBe('build failed, build/kid cancelled, build/kid/grandkid cancelled');
  });

  it('that waits for its children when the run is cancelled is cancelled, and a resume does not do its own work again', () => {
    const { state, take } = startDecided(ONE);
    take(wants('build', 'kid'));
    take(ends('build', { output: 'mine' }));
    expect(statesOf(state)).toBe('build expanded, build/kid running');
    take(CANCEL);
    take(ends('build/kid', CANCELLED));
    expect(statesOf(state)).toBe('build cancelled, build/kid cancelled');
    expect(take(RESUME)[0]).toMatchObject({ tasks: [{ task: 'build' }, { task: 'build/kid' }] });
    expect(statesOf(state)).toBe('build expanded, build/kid running');
    expect(take(ends('build/kid', { attempt: 2 }))).toMatchObject([
      { type: 'task.finished', task: 'build/kid' },
      { type: 'task.finished', task: 'build', outcome: { kind: 'done' }, output: 'mine' },
      { type: 'run.finished', state: 'done' },
    ]);
  });

  it('that is itself a child and is cancelled while it waits is cancelled', () => {
    const { state, take } = startDecided(ONE);
    take(wants('build', 'kid'));
    take(wants('build/kid', 'grandkid'));
    take(ends('build/kid'));
    take(dismiss('build/kid'));
    take(ends('build/kid/grandkid', CANCELLED));
    expect(statesOf(state)).toBe('build running, build/kid cancelled, build/kid/grandkid cancelled');
  });

  it('goes on with its children where its engine was killed in the middle of a cancel', () => {
    const { state, take } = startDecided(ONE);
    for (const fact of talks('build')) take(fact);
    take(wants('build', 'kid'));
    take(wants('build', 'gone'));
    take(dismiss('build/gone'));
    take(CANCEL);
    take(ends('build', { ...changed('c1'), ...CANCELLED }));
    expect(statesOf(state)).toBe('build expanded, build/kid running, build/gone running');
    const [reopened] = take(RESUME);
    expect(reopened).toMatchObject({
      tasks: [{ task: 'build', continues: 1, session: { id: 's-build' } }, { task: 'build/kid' }],
    });
    take(ends('build/kid', { outcome: { kind: 'lost' } }));
    take(ends('build/gone', { outcome: { kind: 'lost' } }));
    expect(statesOf(state)).toBe('build running, build/kid running, build/gone cancelled');
  });

  it('that waited when its engine was killed in the middle of a cancel waits for them again', () => {
    const { state, take } = startDecided(ONE);
    take(wants('build', 'one'));
    take(wants('build', 'two'));
    take(wants('build', 'gone'));
    take(dismiss('build/gone'));
    take(ends('build/gone', CANCELLED));
    take(ends('build'));
    take(CANCEL);
    take(ends('build/one', CANCELLED));
    expect(statesOf(state)).toBe(
      'build expanded, build/one cancelled, build/two running, build/gone cancelled',
    );
    take(RESUME);
    expect(statesOf(state)).toBe(
      'build expanded, build/one running, build/two running, build/gone cancelled',
    );
  });

  it('never gets back a child that it cancelled, nor is one that failed tried again for it', () => {
    const { state, take } = startDecided(ONE);
    for (const fact of talks('build')) take(fact);
    for (const name of ['gone', 'bad', 'kid']) take(wants('build', name));
    take(dismiss('build/gone'));
    take(ends('build/gone', CANCELLED));
    take(ends('build/bad', FAILED));
    take(CANCEL);
    take(ends('build', { ...changed('c1'), ...CANCELLED }));
    take(ends('build/kid', CANCELLED));
    expect(state.state).toBe('cancelled');
    take(RESUME);
    expect(nodeOf(state, 'build/gone').state).toBe('cancelled');
    expect(nodeOf(state, 'build/kid').state).toBe('running');
  });

  it('keeps its children at work when another task fails and the run stops', () => {
    const { state, take } = startDecided({
      ...ONE,
      concurrency: 2,
      tasks: { ...ONE.tasks, other: { run: 'false' } },
    });
    take(wants('build', 'kid'));
    take(wants('build', 'late')); // it has no place
    take(ends('build'));
    take(ends('other', FAILED));
    expect(nodeOf(state, 'build/late').state).toBe('running');
  });
});

it('whether a parent waited for its children is chance, and not in the hash of the journal', () => {
  const history = (facts: (take: (fact: Fact) => void) => void): string => {
    asked = 0;
    const events: Event[] = [];
    const { state } = startDecided(ONE);
    const take = (fact: Fact): void => {
      apply(state, fact, 1);
      events.push(fact);
      for (let next = decide(state); next; next = decide(state)) {
        apply(state, next, 1);
        events.push(next);
      }
    };
    facts(take);
    expect(state.state).toBe('done');
    return journalHash(events.map((event, n) => ({ run: 'w-1', seq: n, atMs: n, event })));
  };
  const early = history((take) => [wants('build', 'kid'), ends('build/kid'), ends('build')].forEach(take));
  const late = history((take) => [wants('build', 'kid'), ends('build'), ends('build/kid')].forEach(take));
  expect(late).toBe(early);
});
