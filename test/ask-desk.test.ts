import { describe, expect, it } from 'vitest';
import { defaultAnswer, type Said } from '../src/contract/question.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

const WORK = { tasks: { work: { run: 'true' } } };
type Tool = ReturnType<TinyLoop['desk']['toolsFor']>['ask'];

function open(): { loop: TinyLoop; ask: Tool } {
  const loop = new TinyLoop(WORK);
  return { loop, ask: loop.desk.toolsFor('work', 1).ask };
}

describe('a question of an agent', () => {
  it('is put to a person as it is, and the answer goes back as it is', async () => {
    const { loop, ask } = open();
    const said = ask({ question: 'Which?', choices: ['a', 'b'], several: true, default: 'b', timeout: 60 });
    const asked = loop.of('question.asked');
    expect(asked).toEqual([
      {
        type: 'question.asked',
        id: 'work+1.1',
        task: 'work',
        text: 'Which?',
        default: 'b',
        choices: [{ label: 'a' }, { label: 'b' }],
        several: true,
        timeoutMs: 60_000,
      },
    ]);
    const answer = { answer: 'a, b', chosen: ['a', 'b'], by: 'anna', note: 'both' };
    loop.submit({ type: 'question.answered', id: 'work+1.1', ...answer });
    expect(await said).toEqual(answer);
  });

  it('with a default of several choices has all of them when its time is up', async () => {
    const { loop, ask } = open();
    const said = ask({ question: 'Which?', choices: ['a', 'b', 'c'], several: true, default: 'a, c' });
    const [asked] = loop.of('question.asked');
    loop.submit({ type: 'question.answered', id: asked!.id, ...defaultAnswer(asked!), by: 'time-out' });
    expect(loop.of('attempt.answered')).toHaveLength(1);
    expect(await said).toEqual({ answer: 'a, c', chosen: ['a', 'c'], by: 'time-out' });
  });

  it('stays open where what is said does not fit', async () => {
    const { loop, ask } = open();
    const said = ask({ question: 'Which?', choices: ['a', 'b'] });
    loop.submit({ type: 'question.answered', id: 'work+1.1', answer: 'yes', by: 'anna' });
    expect(loop.of('attempt.answered')).toEqual([]);
    loop.submit({ type: 'question.answered', id: 'work+1.1', answer: 'a', by: 'anna' });
    expect(await said).toEqual({ answer: 'a', by: 'anna' });
  });

  it('is one where it is asked again while it is open', async () => {
    const { loop, ask } = open();
    const both = [ask({ question: 'Why?', text: true }), ask({ question: 'Why?', text: true })];
    expect(loop.of('attempt.asked')).toHaveLength(1);
    loop.submit({ type: 'question.answered', id: 'work+1.1', answer: 'so', by: 'anna' });
    expect(await Promise.all(both)).toEqual([
      { answer: 'so', by: 'anna' },
      { answer: 'so', by: 'anna' },
    ]);
  });

  it('is not empty', () => {
    const { loop, ask } = open();
    expect(() => ask({ question: ' \n', text: true })).toThrow('the question is empty');
    expect(loop.of('attempt.asked')).toEqual([]);
  });

  it('has no default that does not fit', () => {
    const { ask } = open();
    expect(() => ask({ question: 'Which?', choices: ['a'], default: 'c' })).toThrow('choose one of: [1] a');
    expect(() => ask({ question: 'May I?', default: 'perhaps' })).toThrow('expected yes or no');
  });

  it('is the last of a hundred, however many are asked', async () => {
    const { loop, ask } = open();
    const all: Promise<Said>[] = [];
    for (let n = 0; n < 10_000; n++) {
      all.push(ask({ question: `Number ${n}?`, text: true }));
      loop.submit({ type: 'question.answered', id: `work+1.${n + 1}`, answer: `${n}`, by: 'anna' });
    }
    const said = await Promise.all(all);
    expect(loop.of('attempt.asked')).toHaveLength(100);
    expect(said.slice(98, 102).map(({ by }) => by)).toEqual(['anna', 'anna', 'limit', 'limit']);
    expect(said.at(-1)).toEqual({ answer: null, by: 'limit' });
  });

  it('is taken back where whoever asked hangs up, and nobody else asks the same', async () => {
    const { loop, ask } = open();
    const [first, second] = [new AbortController(), new AbortController()];
    const said = [first, second].map(({ signal }) => ask({ question: 'Why?', text: true }, signal));
    first.abort();
    expect(await said[0]).toEqual({ answer: null, by: 'ended' });
    expect([...loop.state.questions.keys()]).toEqual(['work+1.1']);
    second.abort();
    expect(await said[1]).toEqual({ answer: null, by: 'ended' });
    expect(loop.of('question.answered')).toEqual([
      { type: 'question.answered', id: 'work+1.1', answer: null, by: 'left' },
    ]);
    expect(loop.of('attempt.answered')).toMatchObject([{ id: 'work+1.1', by: 'left' }]);
    expect([...loop.state.questions.keys()]).toEqual([]);
  });

  it('leaves its place to another task until it is answered', async () => {
    const run = 'true';
    const loop = new TinyLoop({ concurrency: 1, tasks: { work: { run }, next: { run }, last: { run } } });
    const started = (): string[] => loop.of('attempt.started').map(({ task }) => task);
    expect(started()).toEqual(['work']);
    const said = loop.desk.toolsFor('work', 1).ask({ question: 'Why?', text: true });
    expect(started()).toEqual(['work', 'next']);
    loop.submit({ type: 'question.answered', id: 'work+1.1', answer: 'so', by: 'anna' });
    await said;
    const ended = { type: 'attempt.finished', attempt: 1, outcome: { kind: 'done' }, durationMs: 1 } as const;
    loop.submit({ ...ended, task: 'next' });
    expect(started()).toEqual(['work', 'next']);
    loop.submit({ ...ended, task: 'work' });
    expect(started()).toEqual(['work', 'next', 'last']);
  });

  it('keeps no place for an attempt that ended before its answer', () => {
    const run = 'true';
    const loop = new TinyLoop({ concurrency: 1, tasks: { work: { run }, next: { run }, last: { run } } });
    void loop.desk.toolsFor('work', 1).ask({ question: 'Why?', text: true });
    const ended = { type: 'attempt.finished', attempt: 1, outcome: { kind: 'done' }, durationMs: 1 } as const;
    loop.submit({ ...ended, task: 'work' });
    expect(loop.of('attempt.started').map(({ task }) => task)).toEqual(['work', 'next']);
    expect(loop.state.away).toBe(0);
  });

  it('has an end where nobody can answer any more', async () => {
    const { loop, ask } = open();
    const said = [ask({ question: 'May I?' }), ask({ question: 'Why?', text: true })];
    loop.desk.close();
    expect(await Promise.all(said)).toEqual([
      { answer: 'no', by: 'ended' },
      { answer: null, by: 'ended' },
    ]);
  });
});
