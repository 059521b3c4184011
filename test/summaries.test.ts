/** An agent that sums up what is too long for a prompt: who is asked, once for a text, and what happens where it fails. */
import { describe, expect, it } from 'vitest';
import type { Decision, EventOf, Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { slim, whole, type StoredValue } from '../src/store/values.ts';
import { startDecided } from './fixtures/decided-run.ts';
import { invalidTasks, messages } from './fixtures/definition.ts';

const LONG = `# Design\nFirst words.\n${'more\n'.repeat(8000)}`;
const CLI = { runtime: 'cli' as const, command: 'true' };
const B = { agent: CLI, prompt: 'It said ${{ tasks.a.output }}.', needs: ['a'], summarize: 'brief' };

function ends(task: string, more: Partial<EventOf<'attempt.finished'>> = {}): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1, ...more };
}

function run(tasks: WorkflowSource['tasks'] = {}): ReturnType<typeof startDecided> & { decided: Decision[] } {
  const agents = { brief: { ...CLI, scope: { write: ['**'], grant: 'owner' as const } } };
  const started = startDecided({ agents, tasks: { a: { run: 'true' }, b: B, ...tasks } });
  return { ...started, decided: started.take(ends('a', { output: LONG })) };
}

function startOf(decisions: Decision[], task: string): EventOf<'attempt.started'> | undefined {
  return decisions.find((one) => one.type === 'attempt.started' && one.task === task) as never;
}

describe('a value that is too long for a prompt, where an agent sums up', () => {
  it('goes to that agent first, in a task within that can change nothing', () => {
    const { state, decided } = run();
    expect(startOf(decided, 'b')).toBeUndefined();
    const start = startOf(decided, 'b/summary-1')!;
    expect(start.files).toEqual([{ name: 'value-1.txt', text: LONG }]);
    expect(start.prompt).toContain(
      `Sum up the text in the file value-1.txt (tasks.a.output, ${LONG.length} characters)`,
    );
    const { label, task } = state.nodes.get('b/summary-1')!;
    expect(label).toBe('b[summary of a]');
    expect(task).toMatchObject({
      scope: { write: [], shared: [], grant: 'never' },
      workspace: 'none',
      agent: 'brief',
    });
  });

  it('is replaced by what that agent says, and is whole in a file', () => {
    const { take } = run();
    const { prompt, files } = startOf(take(ends('b/summary-1', { output: 'Build it in src.' })), 'b')!;
    expect(prompt).toBe(
      `It said Build it in src.\n(This is a summary by the agent brief of tasks.a.output, which has ${LONG.length} characters. The whole text is in the file value-1.txt, see below.).`,
    );
    expect(files).toEqual([{ name: 'value-1.txt', text: LONG }]);
  });

  it('is summed up once for all who need it, also those that come later', () => {
    const { decided, take, state } = run({ c: B, d: { ...B, needs: ['a', 'b'] } });
    const asked = decided.filter((one) => one.type === 'task.summarizing');
    expect(asked.map(({ task, texts }) => [task, texts.map(({ by, text }) => [by, text?.length])])).toEqual([
      ['b', [['b/summary-1', LONG.length]]],
      ['c', [['b/summary-1', undefined]]],
    ]);
    const next = take(ends('b/summary-1', { output: 'Short.' }));
    expect(['b', 'c'].map((task) => startOf(next, task)?.prompt.startsWith('It said Short.'))).toEqual([
      true,
      true,
    ]);
    const last = take(ends('b'));
    expect(startOf(last, 'd')?.prompt).toContain('It said Short.');
    expect([...state.nodes.values()].filter(({ sums }) => sums)).toHaveLength(1);
  });

  const failures: [how: string, ending: Partial<EventOf<'attempt.finished'>>, why: string][] = [
    [
      'fails',
      { outcome: { kind: 'failed', reason: 'timeout', message: 'it took too long' } },
      'it took too long',
    ],
    ['says nothing', { output: ' \n' }, 'it said nothing'],
  ];
  it.each(failures)('is an outline where that agent %s, and this is told', (_, ending, why) => {
    const { take } = run();
    const decided = take(ends('b/summary-1', ending));
    expect(decided.find((one) => one.type === 'task.finished')).toMatchObject({
      task: 'b/summary-1',
      outcome: { kind: 'failed', message: `${why}; an outline takes the place of the summary` },
    });
    expect(startOf(decided, 'b')?.prompt).toContain('It said # Design\nFirst words.\n(This is an outline');
    expect(take(ends('b')).at(-1)).toMatchObject({ type: 'run.finished', state: 'done' });
  });

  it('has a summary of a bounded length, whatever that agent says', () => {
    const { take } = run();
    const start = startOf(take(ends('b/summary-1', { output: 'x'.repeat(1e6) })), 'b')!;
    expect(start.prompt.length).toBeLessThan(8500);
  });

  it('keeps no summary at work that nobody waits for any more', () => {
    const { take, state } = run({ c: { run: 'true' } });
    const decided = take(ends('c', { outcome: { kind: 'failed', reason: 'exit', message: 'no' } }));
    expect(state.nodes.get('b')?.state).toBe('skipped');
    expect(decided).toContainEqual({
      type: 'attempt.stopping',
      task: 'b/summary-1',
      attempt: 1,
      mode: 'graceful',
    });
    take(ends('b/summary-1', { outcome: { kind: 'cancelled' } }));
    expect(state.state).toBe('failed');
  });

  it('is summed up again by a resume where nobody had summed it up, and never twice where somebody had', () => {
    const { take, state } = run();
    take(ends('b/summary-1', { output: 'Short.' }));
    take(ends('b', { outcome: { kind: 'failed', reason: 'exit', message: 'no' } }));
    const again = take({ type: 'run.resumed', by: 'test' });
    expect(startOf(again, 'b')?.prompt).toContain('It said Short.');

    const other = run();
    other.take({ type: 'run.cancelling', mode: 'graceful', by: 'test' });
    other.take(ends('b/summary-1', { outcome: { kind: 'cancelled' } }));
    const resumed = other.take({ type: 'run.resumed', by: 'test' });
    expect(startOf(resumed, 'b/summary-2')).toBeDefined();
    expect(state.nodes.has('b/summary-2')).toBe(false);
  });

  it('is kept beside the journal with its summary asked for', () => {
    const { decided } = run();
    const asked = decided.find((one) => one.type === 'task.summarizing')!;
    const kept = new Map<string, StoredValue>();
    const small = slim(asked, (value) => kept.set(value.hash, value));
    expect(JSON.stringify(small).length).toBeLessThan(1000);
    expect(whole(small, ({ hash }) => JSON.parse(kept.get(hash)!.text))).toEqual(asked);
  });
});

describe('an agent that is to sum up, and cannot', () => {
  it.each([
    [
      'a: { agent: dev, prompt: x, summarize: critic }',
      '7:42: task "a" names the agent "critic", which does not exist; add it under "agents" or as .bosun/agents/critic.md',
    ],
    [
      'a: { run: x, summarize: dev }',
      '7:16: "summarize" of task "a" works only with agent, handoff or race, but the task has "run"; remove it',
    ],
  ])('%s', (task, message) => expect(messages(invalidTasks(`  ${task}\n`))[0]).toContain(message));
});
