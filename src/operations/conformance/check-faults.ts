/** Checks of what becomes of an agent when its model misbehaves: once, and for ever. */
import type { AgentErrorKind } from '../../contract/model.ts';
import type { ModelScriptSource } from '../../model-server/script.ts';
import type { Bench } from './bench.ts';
import { verdict, type ConformanceCheck } from './check.ts';
import { seconds, type TrialEnd, type Trial } from './trial.ts';
import type { RowName, Verdict } from './verdict.ts';

type Answer = NonNullable<ModelScriptSource['answers']>[number];
type Fault = NonNullable<Answer['fault']>;

const AUTH_MS_MAX = 15_000;
const RETRY_AFTER_MS = 2000;

const unauthorized: ConformanceCheck = {
  rows: ['http-401'],
  async run(bench) {
    await using trial = await bench.try({ script: { rules: [{ fault: 401 }] } });
    const ended = await trial.finish();
    const kind = ended.last?.error?.kind;
    const fact = `${kind ?? ended.why} after ${seconds(ended.tookMs)}, ${count(trial)}`;
    const isRight = !ended.isDone && kind === 'auth' && ended.tookMs <= AUTH_MS_MAX;
    return [verdict('http-401', isRight ? 'yes' : 'no', fact)];
  },
};

const rateLimit: ConformanceCheck = {
  rows: ['http-429'],
  async run(bench) {
    const refusal: Answer = { fault: 429, 'retry-after': `${RETRY_AFTER_MS}ms` };
    await using trial = await bench.try({ script: { answers: [refusal, { text: 'all done' }] } });
    const ended = await trial.finish();
    if (!ended.isDone) return [verdict('http-429', 'no', ended.why)];
    const at = trial.requests.map(({ atMs }) => atMs);
    const waitedMs = (at[1] ?? 0) - (at[0] ?? 0);
    const isPatient = waitedMs >= RETRY_AFTER_MS;
    return [verdict('http-429', isPatient ? 'yes' : 'no', `told 2.0 s, waited ${seconds(waitedMs)}; done`)];
  },
};

/** `kinds`: what it may fail with where the fault stays. */
function lasting(row: RowName, fault: Fault, kinds: AgentErrorKind[]): ConformanceCheck {
  return {
    rows: [row],
    async run(bench) {
      const once = await tried(bench, { answers: [{ fault }, { text: 'all done' }] });
      const always = await tried(bench, { rules: [{ fault }] });
      return [judge(row, once, always, kinds)];
    },
  };
}

interface Tried {
  ended: TrialEnd;
  count: string;
}

async function tried(bench: Bench, script: ModelScriptSource): Promise<Tried> {
  await using trial = await bench.try({ script });
  return { ended: await trial.finish(), count: count(trial) };
}

function judge(row: RowName, once: Tried, always: Tried, kinds: AgentErrorKind[]): Verdict {
  const kind = always.ended.last?.error?.kind;
  const isRightKind = !always.ended.isDone && kind !== undefined && kinds.includes(kind);
  const survived = once.ended.isDone
    ? `once: done after ${seconds(once.ended.tookMs)}`
    : `once: ${once.ended.why}`;
  const failed = always.ended.isDone
    ? 'always: done all the same'
    : `always: ${kind ?? always.ended.why} after ${seconds(always.ended.tookMs)}, ${always.count}`;
  const fact = `${survived}; ${failed}`;
  if (once.ended.hasHung || always.ended.hasHung || always.ended.isDone) return verdict(row, 'no', fact);
  return verdict(row, once.ended.isDone && isRightKind ? 'yes' : 'partly', fact);
}

/** The model refuses the third request as too long, once. What was done by then must not be lost. */
const context: ConformanceCheck = {
  rows: ['context'],
  async run(bench) {
    const script: ModelScriptSource = {
      rules: [
        { when: { turn: 2 }, fault: 'too-long', times: 1 },
        { when: { conversation: 'so this is a new one' }, text: 'all done' },
      ],
      answers: [
        { text: 'I begin.', run: 'echo one >> steps.txt' },
        { run: 'echo more >> steps.txt' },
        { text: 'all done' },
      ],
    };
    await using trial = await bench.try({ script });
    const ended = await trial.finish();
    const steps = await ended.file('steps.txt');
    const isNew = trial.of('attempt.started').some(({ recap }) => recap !== undefined);
    if (!ended.isDone) return [verdict('context', 'no', ended.why)];
    const isWhole = steps?.startsWith('one\nmore\n') === true; // a count of turns may begin again
    const how = isNew ? 'bosun goes on in a new conversation' : 'shortens it by itself';
    const fact = isWhole ? how : `${how}; its work is not all there`;
    return [verdict('context', isWhole ? 'yes' : 'partly', `${fact}, ${seconds(ended.tookMs)}`)];
  },
};

function count({ requests: { length } }: Trial): string {
  return length === 1 ? '1 request' : `${length} requests`;
}

export const FAULT_CHECKS: ConformanceCheck[] = [
  unauthorized,
  rateLimit,
  lasting('http-500', 500, ['overloaded']),
  lasting('hang', 'hang', ['timeout']),
  lasting('cut', 'cut', ['network']),
  lasting('garbage', 'garbage', ['network', 'overloaded', 'bad-request', 'crashed']),
  context,
];
