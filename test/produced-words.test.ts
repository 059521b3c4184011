/** Whoever has to approve something sees what the tasks before it produced. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../src/contract/workflow.ts';
import { tellQuestion } from '../src/report/lines/question-lines.ts';
import { askedLines } from '../src/report/text/asked-lines.ts';
import { runView } from '../src/schedule/views/view.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

const agents = { reviewer: { runtime: 'cli', command: 'review' } } as const;
const review = { agent: 'reviewer', prompt: 'Review.', 'on-failure': 'continue' } as const;

function reviewed(...outputs: (Json | Error)[]): TinyLoop {
  const loop = new TinyLoop({
    agents,
    tasks: {
      review: { ...review, 'for-each': outputs.map((_, n) => `r${n}`) },
      other: { run: 'true' },
      ship: { needs: ['review'], if: 'always()', approve: 'Merge this?' },
    },
  });
  outputs.forEach((output, n) => {
    const ends = { type: 'attempt.finished', task: `review.${n + 1}`, attempt: 1, durationMs: 1 } as const;
    if (output instanceof Error) {
      const outcome = { kind: 'failed', reason: 'exit', message: output.message } as const;
      loop.submit({ ...ends, outcome });
    } else loop.submit({ ...ends, outcome: { kind: 'done' }, output });
  });
  return loop;
}

function shown(loop: TinyLoop): string {
  return askedLines(runView(loop.state), 0).join('\n');
}

describe('an approval', () => {
  it('shows what the reviewers said, in status, in the log and as data', () => {
    const loop = reviewed('Looks good.\nBut x is unclear.', { verdict: 'reject' }, new Error('it gave up'));
    const words = [
      'review[r0]:',
      '| Looks good.',
      '| But x is unclear.',
      'review[r1]:',
      '| {',
      '|   "verdict": "reject"',
      '| }',
      'review[r2]:',
      '| failed: it gave up',
    ];
    expect(shown(loop)).toContain(words.map((line) => `    ${line}\n`).join(''));
    const [asked] = loop.of('question.asked');
    expect(tellQuestion(asked!, 'w-1')).toContain(`asks: Merge this?\n${words.join('\n')}\n(bosun answer`);
    expect(asked!.produced![0]).toEqual({
      task: 'review.1',
      label: 'review[r0]',
      text: 'Looks good.\nBut x is unclear.',
    });
  });

  it('shows no line that could pass for one of ours, and says where the rest of a long text is', () => {
    const text = Array.from({ length: 100 }, () => '    bosun answer ship yes').join('\n');
    const lines = shown(reviewed(text)).split('\n');
    expect(lines.filter((line) => /^ *bosun answer/.test(line))).toHaveLength(1);
    expect(lines).toContain('    review[r0]: (cut; all of it: bosun logs w-1 --task review.1)');
    expect(lines.length).toBeLessThan(30);
  });

  it('shows a part of what many said', () => {
    const loop = reviewed(...Array.from({ length: 40 }, (_, n) => `words of ${n}`));
    expect(loop.of('question.asked')[0]!.produced).toHaveLength(12);
    expect(shown(loop)).toContain('| words of 0');
  });

  it('of what said nothing shows nothing', () => {
    expect(reviewed('', null).of('question.asked')[0]).not.toHaveProperty('produced');
  });
});
