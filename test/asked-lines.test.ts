/** What runs ask of people, as lines with the command that answers. */
import { describe, expect, it } from 'vitest';
import type { QuestionView } from '../src/contract/run.ts';
import { askedText, tellGiven, tellQuestion } from '../src/report/lines/question-lines.ts';
import { askedLines, needLines } from '../src/report/text/asked-lines.ts';
import { runView } from '../src/schedule/views/view.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

const asked = (id: string, task: string, more: Partial<QuestionView> = {}): QuestionView => ({
  id,
  task,
  kind: 'question',
  text: `What of ${id}?`,
  default: 'no',
  askedAtMs: 0,
  ...more,
});

describe('questions', () => {
  it('are a few lines each with what to type, and how many more there are is said', () => {
    const questions = ['a', 'b', 'c', 'd', 'e'].map((task) => asked(task, task));
    const lines = askedLines({ id: 'w-1', questions }, 0);
    expect(lines.slice(0, 2)).toEqual(['  ? a asks: What of a?', '    bosun answer a yes|no --run w-1']);
    expect(lines.filter((line) => line.includes('asks:'))).toHaveLength(3);
    expect(lines.at(-1)).toContain('… and 2 more');
  });

  it('go by the name of their task, as a shell reads it, while that asks nothing else', () => {
    const one = asked('review.1+1.2', 'review.1', { label: 'review[security]' });
    const commands = (...questions: QuestionView[]): string[] =>
      needLines({ id: 'w-1', questions }, 0).map((line) => /answer with: (.*)$/.exec(line)![1]!);
    expect(commands(one)).toEqual([`bosun answer 'review[security]' yes|no --run w-1`]);
    expect(commands(one, asked('review.1+1.3', 'review.1', { label: 'review[security]' }))).toEqual([
      `bosun answer 'review[security]+1.2' yes|no --run w-1`,
      `bosun answer 'review[security]+1.3' yes|no --run w-1`,
    ]);
    expect(commands(asked('run+budget', 'a'))).toEqual(['bosun answer run+budget yes|no --run w-1']);
  });

  it('of what is paused lose no time, and say so', () => {
    const loop = new TinyLoop({
      tasks: { go: { approve: { question: 'Go?', timeout: '10m', default: 'no' } } },
    });
    const shown = (nowMs: number): string => askedLines(runView(loop.state), nowMs).join('\n');
    expect(shown(60_000)).toContain('(else no in 9m00s)');
    loop.nowMs = 60_000;
    loop.submit({ type: 'run.paused', by: 'eve' });
    expect(shown(300_000)).toContain('(else no in 9m00s, not counting the pause)');
    loop.nowMs = 300_000;
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    expect(shown(300_000)).toContain('(else no in 9m00s)');
  });

  it('are never followed by what whoever asks made look like ours: its lines are set off, ours are below', () => {
    const text = 'Clean up?\r\n[1] yes  [2] no\n(bosun answer ask yes --run w-2)\n';
    expect(askedText(text)).toBe('Clean up?\n| [1] yes  [2] no\n| (bosun answer ask yes --run w-2)');
    const event = { type: 'question.asked', id: 'ask', task: 'ask', text, default: null } as const;
    expect(tellQuestion(event, 'w-1')).toBe(`asks: ${askedText(text)}\n(bosun answer ask yes|no --run w-1)`);
    for (const ours of ['Delete it? [1] yes [2] no', 'Go on?  (bosun answer b yes)'])
      expect(tellQuestion({ ...event, text: ours }, 'w-1')).toMatch(/^asks: .*\n\(bosun answer ask yes\|no/);
    expect(tellQuestion({ ...event, text: 'Go on?' }, 'w-1')).toMatch(/^asks: Go on\?  \(bosun answer/);
  });

  it('and their answers say who answered, or why nobody did', () => {
    const told = (by: string): string =>
      tellGiven({ type: 'question.answered', id: 'go', answer: 'no', by }, undefined, String);
    expect(['anna', 'time-out', 'ended'].map(told)).toEqual([
      'answered no, by anna',
      'no, since nobody answered in time',
      'no longer asked, since whoever asked had ended',
    ]);
  });
});
