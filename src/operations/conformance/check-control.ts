/** Checks of what people do to an agent while it works: end it, kill its engine, speak to it, answer it. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { processExit, start } from '../../system/process/process.ts';
import { verdict, type ConformanceCheck } from './check.ts';
import { holdFor, holdOn, isProcessMarked, until } from '../doctor/find-process.ts';
import { seconds, TASK, type Trial } from './trial.ts';

/** For an agent to start, and to run its first command. */
const START_MS_MAX = 60_000;
/** What is promised of a cancel. */
const CANCEL_MS_MAX = 5000;
/** For the kernel to take away what is dead. */
const GONE_MS_MAX = 2000;
/** For the journal to hold what was told. */
const SETTLE_MS = 300;

const cancel: ConformanceCheck = {
  rows: ['cancel', 'orphans'],
  async run(bench) {
    const mark = `mark-${randomUUID()}`;
    await using trial = await bench.try({
      script: { answers: [{ run: holdOn(mark) }, { text: 'too late' }] },
    });
    const live = await trial.start();
    if (!(await begins(trial, mark))) {
      const { why } = await trial.finish();
      return [
        verdict('cancel', 'no', `nothing to cancel: ${why}`),
        verdict('orphans', 'no', 'nothing was begun'),
      ];
    }
    const beganMs = performance.now();
    live.cancel('graceful');
    const { run } = await trial.finish();
    const tookMs = performance.now() - beganMs;
    const isGone = await until(async () => !(await isProcessMarked(mark)), GONE_MS_MAX);
    const isSoon = run.state === 'cancelled' && tookMs <= CANCEL_MS_MAX;
    return [
      verdict('cancel', isSoon ? 'yes' : 'no', `${run.state} after ${seconds(tookMs)}`),
      verdict('orphans', isGone ? 'yes' : 'no', isGone ? 'none, though one ignores signals' : 'one is left'),
    ];
  },
};

const resume: ConformanceCheck = {
  rows: ['resume'],
  async run(bench) {
    const mark = `mark-${randomUUID()}`;
    const script = {
      rules: [
        { when: { conversation: 'You were interrupted' }, text: 'went on' },
        { run: holdOn(mark), times: 1 },
        { text: 'began anew' },
      ],
    };
    await using trial = await bench.try({ script, prompt: 'Remember WORD-ONE.' });
    const killed = await killInTheMiddle(trial, mark);
    if (killed !== undefined) return [verdict('resume', 'no', killed)];
    await trial.resume();
    const ended = await trial.finish();
    const knows = trial.requests.some(({ body }) => hasAll(body, ['You were interrupted', 'WORD-ONE']));
    if (ended.isDone && knows) return [verdict('resume', 'yes', `went on in ${seconds(ended.tookMs)}`)];
    return [verdict('resume', 'no', ended.isDone ? 'begins anew' : ended.why)];
  },
};

/** Starts the run in an engine of its own, and kills that. Says what went wrong. */
async function killInTheMiddle(trial: Trial, mark: string): Promise<string | undefined> {
  const program = path.join(import.meta.dirname, `doomed-engine${path.extname(import.meta.filename)}`);
  const argv = [process.execPath, program];
  const child = start(argv, { input: JSON.stringify(trial.doomed) });
  child.stdout?.resume();
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-500)));
  let hasEnded = false;
  const exited = processExit(child, argv).finally(() => (hasEnded = true));
  const hasBegun = await until(async () => hasEnded || (await isProcessMarked(mark)), START_MS_MAX);
  if (!hasEnded) await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const isEarly = hasEnded;
  child.kill('SIGKILL');
  await exited.catch(() => {});
  if (!hasBegun || isEarly) return `it never ran a command${said === '' ? '' : `: ${said.trim()}`}`;
  const isGone = await until(async () => !(await isProcessMarked(mark)), GONE_MS_MAX);
  return isGone ? undefined : 'a process outlives the killed engine';
}

const fork: ConformanceCheck = {
  rows: ['fork'],
  async run(bench) {
    const script = {
      rules: [
        { when: { conversation: 'Your last attempt failed' }, text: 'tried again' },
        { when: { turn: 0 }, text: 'I say WORD-TWO.', run: 'true' },
        { fault: 400 as const },
      ],
    };
    const retry = { attempts: 2, backoff: '10ms' };
    await using trial = await bench.try({ script, task: { retry } });
    const ended = await trial.finish();
    const knows = trial.requests.some(({ body }) => hasAll(body, ['Your last attempt failed', 'WORD-TWO']));
    const [first, second] = [1, 2].map(
      (attempt) => trial.told('started').find((told) => told.attempt === attempt)?.session,
    );
    const hasBegunAnew = !knows && trial.requests.filter(({ turn }) => turn === 0).length > 1;
    if (!ended.isDone && !hasBegunAnew) return [verdict('fork', 'no', ended.why)];
    if (!knows) return [verdict('fork', 'no', 'begins anew')];
    if (first === second) return [verdict('fork', 'partly', 'continues the same conversation')];
    return [verdict('fork', 'yes', seconds(ended.tookMs))];
  },
};

const steer: ConformanceCheck = {
  rows: ['steer'],
  async run(bench) {
    const mark = `mark-${randomUUID()}`;
    const script = {
      rules: [{ when: { conversation: 'WORD-THREE' }, text: 'heard' }],
      answers: [{ run: holdFor(mark, 4) }, { text: 'not heard' }],
    };
    await using trial = await bench.try({ script });
    const live = await trial.start();
    const hasBegun = await begins(trial, mark);
    if (hasBegun) live.steer(TASK, 'Mind WORD-THREE.');
    const ended = await trial.finish();
    if (!hasBegun) return [verdict('steer', 'no', `nothing to steer: ${ended.why}`)];
    const heard = trial.requests.find(({ body }) => hasAll(body, ['WORD-THREE']));
    if (!ended.isDone || !heard)
      return [verdict('steer', 'no', ended.isDone ? 'does not hear it' : ended.why)];
    return [verdict('steer', 'yes', heard.turn === 1 ? 'at its next pause' : 'when its turn is over')];
  },
};

const ASK_TOOL = {
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Which colour?',
        header: 'Colour',
        options: [
          { label: 'WORD-RED', description: 'like fire' },
          { label: 'WORD-BLUE', description: 'like the sea' },
        ],
        multiSelect: false,
      },
    ],
  },
};

const ask: ConformanceCheck = {
  rows: ['ask'],
  cannot: ({ asksNobody }) => asksNobody && `asks nobody: ${asksNobody}`,
  async run(bench) {
    const answers = [{ tools: [ASK_TOOL] }, { text: 'all done' }];
    await using trial = await bench.try({ script: { answers } });
    const live = await trial.start();
    let hasEnded = false;
    const finished = trial.finish().finally(() => (hasEnded = true));
    await until(() => hasEnded || trial.of('question.asked').length > 0, START_MS_MAX);
    const question = trial.of('question.asked')[0];
    // Words that are none of its choices: its model can only know them from the answer.
    const said = question?.freeText ? 'WORD-GREEN' : 'WORD-BLUE';
    if (question) live.answer(question.id, said);
    const ended = await finished;
    const isOffered = trial.requests.some(
      ({ body, turn }) => turn === 0 && hasAll(body, [`"${ASK_TOOL.name}"`]),
    );
    if (!question && ended.isDone && !isOffered)
      return [verdict('ask', 'cannot', 'its model is offered no tool to ask with')];
    if (!question)
      return [verdict('ask', 'no', ended.isDone ? 'a question of its own reaches nobody' : ended.why)];
    const isHeard = trial.requests.some(({ body, turn }) => turn === 1 && hasAll(body, [said]));
    return [verdict('ask', isHeard && ended.isDone ? 'yes' : 'partly', `asked, answered; ${ended.why}`)];
  },
};

const TURNS = 3;

const turns: ConformanceCheck = {
  rows: ['turns'],
  async run(bench) {
    const answers = Array.from({ length: 2 * TURNS }, (_, n) => ({ run: `echo ${n}` }));
    await using trial = await bench.try({
      script: { answers: [...answers, { text: 'all done' }] },
      agent: { turns: TURNS },
    });
    const ended = await trial.finish();
    const { outcome } = ended.last ?? {};
    const isHeld = outcome?.kind === 'failed' && outcome.reason === 'limit';
    const fact = `${trial.requests.length} requests where ${TURNS} turns are allowed`;
    if (isHeld && trial.requests.length <= TURNS + 1) return [verdict('turns', 'yes', fact)];
    return [verdict('turns', isHeld ? 'partly' : 'no', ended.isDone ? fact : `${fact}; ${ended.why}`)];
  },
};

export const CONTROL_CHECKS: ConformanceCheck[] = [cancel, resume, fork, steer, ask, turns];

/** Whether the agent's command runs; false where it ended instead, or takes too long. */
async function begins(trial: Trial, mark: string): Promise<boolean> {
  const hasEnded = (): boolean => trial.of('attempt.finished').length > 0;
  let isThere = false;
  await until(async () => (isThere = await isProcessMarked(mark)) || hasEnded(), START_MS_MAX);
  return isThere;
}

function hasAll(body: unknown, words: string[]): boolean {
  const text = JSON.stringify(body);
  return words.every((word) => text.includes(word));
}
