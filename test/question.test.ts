import { describe, expect, it } from 'vitest';
import {
  answerWords,
  ANSWER_CHARS_MAX,
  boundedQuestion,
  CHOICES_MAX,
  isAnswerTo,
  LABEL_CHARS_MAX,
  noAnswer,
  QUESTION_CHARS_MAX,
  readAnswer,
  type AnswerForm,
} from '../src/contract/question.ts';

const DB: AnswerForm = { choices: [{ label: 'Postgres' }, { label: 'SQLite', about: 'one file' }] };
const SOME: AnswerForm = { ...DB, several: true };

describe('an answer', () => {
  it.each([
    [{}, 'y', { answer: 'yes' }],
    [{}, ' NO ', { answer: 'no' }],
    [DB, '2', { answer: 'SQLite' }],
    [DB, 'sqlite', { answer: 'SQLite' }],
    [SOME, '2', { answer: 'SQLite', chosen: ['SQLite'] }],
    [SOME, '2, 1', { answer: 'Postgres, SQLite', chosen: ['Postgres', 'SQLite'] }],
    [SOME, 'SQLite,postgres', { answer: 'Postgres, SQLite', chosen: ['Postgres', 'SQLite'] }],
    [{ ...DB, freeText: true }, 'a file', { answer: 'a file' }],
    [{ ...DB, freeText: true }, '1', { answer: 'Postgres' }],
    [{ ...SOME, freeText: true }, 'neither, nor', { answer: 'neither, nor' }],
    [{ freeText: true }, ' use\nzod ', { answer: 'use\nzod' }],
    [{ freeText: true }, 'yes', { answer: 'yes' }],
    [{ choices: [{ label: '2' }, { label: '1' }] }, '1', { answer: '1' }],
    [
      { choices: [{ label: 'a, b' }, { label: 'c' }], several: true },
      'a, b',
      { answer: 'a, b', chosen: ['a, b'] },
    ],
  ] as [AnswerForm, string, object][])('to %j that is %j fits', (form, words, expected) => {
    const answer = readAnswer(form, words);
    expect(answer).toEqual(expected);
    expect(isAnswerTo(form, answer as never)).toBe(true);
  });

  it.each([
    [{}, 'maybe', '"maybe" does not answer it; expected yes or no'],
    [{}, '', 'the answer is empty; expected yes or no'],
    [DB, '3', '"3" does not answer it; choose one of: [1] Postgres  [2] SQLite'],
    [DB, '0', '"0" does not answer it; choose one of: [1] Postgres  [2] SQLite'],
    [DB, '1,2', '"1,2" does not answer it; choose one of: [1] Postgres  [2] SQLite'],
    [SOME, '1,3', '"1,3" does not answer it; choose some of: [1] Postgres  [2] SQLite'],
    [DB, '\u001b[2J\n--now', '"[2J --now" does not answer it; choose one of: [1] Postgres  [2] SQLite'],
    [{ freeText: true }, '  ', 'the answer is empty; write some text'],
    [
      { ...DB, freeText: true },
      '3',
      '"3" does not answer it; choose one of: [1] Postgres  [2] SQLite, or write your own',
    ],
    [{ ...SOME, freeText: true }, '1,9', expect.stringContaining('"1,9" does not answer it') as string],
    [
      { freeText: true },
      'x'.repeat(1024 * 1024),
      `the answer is too long: 1048576 characters, at most ${ANSWER_CHARS_MAX}`,
    ],
  ] as [AnswerForm, string, string][])(
    'to %j that is %j is refused with what would fit',
    (form, words, problem) => {
      expect(readAnswer(form, words)).toEqual({ problem });
    },
  );

  it('may be a list of labels, each of them exactly', () => {
    expect(readAnswer(SOME, ['SQLite'])).toEqual({ answer: 'SQLite', chosen: ['SQLite'] });
    expect(readAnswer(DB, ['SQLite'])).toEqual({ answer: 'SQLite' });
    expect(readAnswer(DB, ['Postgres', 'SQLite'])).toHaveProperty('problem');
    expect(readAnswer(SOME, ['2'])).toHaveProperty('problem');
    expect(readAnswer(SOME, [])).toHaveProperty('problem');
  });

  it('that does not fit is none, however it came', () => {
    expect(isAnswerTo({}, { answer: null })).toBe(false);
    expect(isAnswerTo({}, { answer: 'a' })).toBe(false);
    expect(isAnswerTo(DB, { answer: 'MySQL' })).toBe(false);
    expect(isAnswerTo(SOME, { answer: '', chosen: [] })).toBe(false);
    expect(isAnswerTo(SOME, { answer: 'x', chosen: ['x'] })).toBe(false);
    for (const form of [{}, DB, SOME, { freeText: true as const }])
      expect(isAnswerTo(form, noAnswer(form))).toBe(true);
  });

  it('is told how it can be typed', () => {
    expect([{}, DB, SOME, { freeText: true as const }].map(answerWords)).toEqual([
      'yes|no',
      '1|2',
      '1|2|1,2',
      '"your answer"',
    ]);
    const many = { choices: Array.from({ length: 30 }, (_, n) => ({ label: `c${n}` })) };
    expect(answerWords(many)).toBe('1…30');
  });
});

describe('a question', () => {
  it('has choices that can be told apart, with nothing that does not show', () => {
    const choices = ['a\u001b[31m', 'A [31m', '', '\u202e', 'rm -rf /; $(x)'].map((label) => ({ label }));
    const { choices: kept } = boundedQuestion({ text: 't', default: null, choices });
    expect(kept!.map(({ label }) => label)).toEqual([
      'a [31m',
      'A [31m (2)',
      '(empty)',
      '(empty) (2)',
      'rm -rf /; $(x)',
    ]);
  });

  it('is cut to what a person can read, however large it is', () => {
    const text = 'x'.repeat(10 * 1024 * 1024);
    const long = 'x'.repeat(10_000);
    const choices = Array.from({ length: 1000 }, (_, n) => ({ label: `${n}${long}`, about: text }));
    const question = boundedQuestion({ text, default: null, choices });
    expect(question.choices).toHaveLength(CHOICES_MAX);
    expect(question.choices!.every(({ label }) => label.length <= LABEL_CHARS_MAX)).toBe(true);
    expect(question.text.length).toBeLessThan(QUESTION_CHARS_MAX + 100);
    expect(question.text).toContain('950 more choices are left out');
  });

  it('whose list of choices is empty takes text', () => {
    expect(boundedQuestion({ text: 't', default: null, choices: [] })).toEqual({
      text: 't',
      default: null,
      freeText: true,
    });
  });
});
