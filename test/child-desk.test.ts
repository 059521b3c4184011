/** Where agents ask for children: what they are answered is bounded, and so is what the journal keeps of it. */
import { describe, expect, it } from 'vitest';
import type { EventOf, Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { ANSWER_BYTES_MAX } from '../src/crew/tools.ts';
import { ChildDesk } from '../src/run/child-desk.ts';
import { startDecided } from './fixtures/decided-run.ts';

type Source = Omit<WorkflowSource, 'name'>;
type Tools = ReturnType<ChildDesk['toolsFor']>;

const ONE: Source = {
  agents: { hand: { runtime: 'cli', command: 'true' } },
  tasks: { build: { agent: 'hand', prompt: 'x' } },
};

function open(
  source: Source = ONE,
): Tools & { facts: Fact[]; clock: { ms: number }; take(fact: Fact): void } {
  const facts: Fact[] = [];
  const clock = { ms: 0 };
  const run = startDecided(source);
  const take = (fact: Fact): void => {
    facts.push(fact);
    for (const decision of run.take(fact)) {
      if (decision.type === 'child.added') desk.added(decision);
      if (decision.type === 'child.refused') desk.refused(decision);
    }
  };
  const desk = new ChildDesk({
    loop: { state: run.state, isOver: false, submit: take },
    nowMs: () => clock.ms,
    wait: () => Promise.resolve(),
  });
  return { ...desk.toolsFor('build', 1), facts, clock, take };
}

/** Without the time that asking takes: what is asked for is checked apart. */
function ask(take: (fact: Fact) => void, n: number): void {
  const child = { needs: [], attempts: 1, agent: 'hand', prompt: 'x', 'on-failure': 'continue' } as const;
  const id = `build+child${n}`;
  take({
    type: 'child.requested',
    task: 'build',
    attempt: 1,
    id,
    name: `kid-${n}`,
    child: { ...child, needs: [] },
  });
}

function ends(n: number, output: string, message: string): Fact[] {
  const task = `build/kid-${n}`;
  const outcome: EventOf<'attempt.finished'>['outcome'] =
    n % 2 === 0 ? { kind: 'done' } : { kind: 'failed', reason: 'agent', message };
  return [{ type: 'attempt.finished', task, attempt: 1, outcome, output, durationMs: 1 }];
}

describe('an agent that asks for children', () => {
  it('is refused more money for one than it has left itself', async () => {
    const tools = open({
      ...ONE,
      agents: { hand: { runtime: 'cli', command: 'true', budget: { usd: 1, tokens: 5000 } } },
    });
    const child = { prompt: 'x', agent: 'hand' };
    await expect(tools.spawn({ ...child, usd: 5 })).rejects.toThrow(
      'no child was started: it asks for $5.00, and its parent has $1.00 left; ask for less',
    );
    await expect(tools.spawn({ ...child, tokens: 6000 })).rejects.toThrow(/asks for 6,?000 tokens.*5,?000/);
    expect(tools.facts).toEqual([]);
    await tools.spawn({ ...child, usd: 1, tokens: 5000 });
    expect(tools.facts).toHaveLength(1);
  });

  it('is told of 200 of them, those at work first, and not of all that they gave', async () => {
    const { take, children } = open({ ...ONE, concurrency: 1000 });
    for (let n = 1; n <= 300; n++) ask(take, n);
    for (let n = 2; n <= 300; n++)
      for (const fact of ends(n, '\u{1F600}'.repeat(5000), 'ä'.repeat(9999))) take(fact);
    const answer = await children({});
    expect(answer.children).toHaveLength(200);
    expect(answer.leftOut).toBe(100);
    expect(answer.children[0]).toMatchObject({ name: 'kid-1', state: 'running' });
    expect(answer.children.at(-1)).toMatchObject({ name: 'kid-300', state: 'done' });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(ANSWER_BYTES_MAX);
  });

  it('is refused once the journal keeps 32 MB of what was asked for', async () => {
    const { spawn, facts, clock } = open();
    const prompt = 'x'.repeat(4 * 1024 * 1024);
    for (let n = 1; n <= 7; n++) await spawn({ prompt });
    await expect(spawn({ prompt })).rejects.toThrow('the children of this run were told 32 MB in all');
    clock.ms += 60_000;
    await expect(spawn({ prompt: 'short' })).resolves.toMatchObject({ state: 'ready' });
    expect(facts).toHaveLength(8);
  });

  it('is refused where it asks faster than anybody needs', async () => {
    const { spawn, clock } = open();
    for (let n = 1; n <= 200; n++) await spawn({ prompt: 'x', agent: 'nobody' }).catch(() => {});
    await expect(spawn({ prompt: 'x' })).rejects.toThrow('200 children within a second');
    clock.ms += 10_001;
    await expect(spawn({ prompt: 'x' })).resolves.toMatchObject({ name: 'child-201' });
  });

  it('gets a child of its own kind, with what stands in its task, and nothing that the table does not know', async () => {
    const agent = {
      runtime: 'cli' as const,
      command: '/bin/true',
      scope: { network: ['a.org'], write: ['src/**'] },
    };
    const { spawn, facts } = open({
      tasks: { build: { agent, prompt: 'x', timeout: '5m', retry: { attempts: 3 } } },
    });
    const more = { expand: true, timeout: '9h', env: { A: 'b' }, output: {} };
    await spawn({ prompt: '${{ run.id }}', ...more });
    expect((facts[0] as EventOf<'child.requested'>).child).toEqual({
      needs: [], attempts: 1, agent, prompt: '${{ run.id }}', timeout: '5m', 'on-failure': 'continue', 'on-conflict': 'fail',
      scope: { write: ['src/**'], shared: [], network: ['a.org'], read: [], hide: [], env: {}, grant: 'ask' },
    }); // prettier-ignore
  });

  it('gets none with an empty prompt, a NUL, or both an agent and a runtime', async () => {
    const { spawn, facts } = open();
    await expect(spawn({ prompt: ' ' })).rejects.toThrow('must have text');
    await expect(spawn({ prompt: 'x', check: 'a\0' })).rejects.toThrow('no NUL');
    await expect(spawn({ prompt: 'x', agent: 'hand', runtime: 'codex' })).rejects.toThrow('but not both');
    expect(facts).toEqual([]);
  });
});
