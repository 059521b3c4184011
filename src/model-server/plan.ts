/** A script made ready: which of its answers a request gets. What it remembers is only how often a rule was used. */
import { matchesStars } from '../base/globs.ts';
import type { AskedModel } from './asked.ts';
import type { ScriptedAnswer, ModelScript, When } from './script.ts';

export interface ChosenAnswer {
  /** Such as `rules[2]`, `rules[2].answers[0]` or `answers[1]`. */
  rule: string;
  answer: ScriptedAnswer;
  /** Counts it as used. */
  use(): void;
}

const NOTHING_LEFT: ChosenAnswer = { rule: 'none', answer: { text: 'Done.' }, use: () => {} };

interface Step extends ChosenAnswer {
  holds(asked: AskedModel): boolean;
}

/** After these the agent has an answer, so that they are a turn. */
const ANSWERING = new Set<unknown>([undefined, 'slow', 'huge']);

export class Plan {
  readonly #steps: Step[];

  constructor({ rules = [], answers }: ModelScript) {
    this.#steps = rules.flatMap(({ when = {}, answers: list, ...answer }, n) =>
      list === undefined ? [step(`rules[${n}]`, when, answer)] : sequence(`rules[${n}].answers`, when, list),
    );
    if (answers !== undefined) this.#steps.push(...sequence('answers', {}, answers));
  }

  choose(asked: AskedModel): ChosenAnswer {
    return this.#steps.find((step) => step.holds(asked)) ?? NOTHING_LEFT;
  }
}

/** Each answer for its turn. A fault is no answer: it stands before the answer of its turn, and passes. */
function sequence(rule: string, when: When, answers: readonly ScriptedAnswer[]): Step[] {
  let turn = 0;
  return answers.map((answer, n) => {
    if (ANSWERING.has(answer.fault)) return step(`${rule}[${n}]`, when, answer, turn++);
    return step(`${rule}[${n}]`, when, { times: 1, ...answer }, turn);
  });
}

function step(rule: string, when: When, answer: ScriptedAnswer, turn?: number): Step {
  const tests = testsOf(when);
  if (turn !== undefined) tests.unshift((asked) => asked.turn === turn);
  let left = answer.times ?? Infinity;
  return {
    rule,
    answer,
    use: () => void left--,
    holds: (asked) => left > 0 && tests.every((test) => test(asked)),
  };
}

type Test = (asked: AskedModel) => boolean;

/** The cheapest first: a bench asks thousands of times a second. */
function testsOf(when: When): Test[] {
  const { dialect, turn, model, user, conversation, 'tool-result': result } = when;
  const tests: Test[] = [];
  if (dialect !== undefined) tests.push((asked) => asked.dialect === dialect);
  if (turn !== undefined) tests.push((asked) => asked.turn === turn);
  if (model !== undefined) {
    // Names of models may hold slashes, so this is no glob of paths.
    const pattern = model.toLowerCase();
    tests.push((asked) => matchesStars(pattern, asked.model.toLowerCase()));
  }
  if (user !== undefined) tests.push((asked) => lastSaid(asked).includes(user));
  if (result !== undefined) tests.push((asked) => lastResults(asked).some((text) => text.includes(result)));
  if (conversation !== undefined)
    tests.push(({ messages }) => messages.some(({ text }) => text.includes(conversation)));
  return tests;
}

/** All that a person said since the last answer, or before it where only tools spoke since. */
function lastSaid({ messages }: AskedModel): string {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const first = messages.findLastIndex(({ role }, n) => n < last && role === 'assistant');
  return messages
    .slice(first + 1, last + 1)
    .flatMap(({ role, text }) => (role === 'user' ? [text] : []))
    .join('\n');
}

function lastResults({ messages }: AskedModel): string[] {
  const since = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(since + 1).flatMap(({ role, text }) => (role === 'tool' ? [text] : []));
}
