/** Between the page and an agent at work: how soon it has an answer, and how soon one sees what it has changed. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, median, percentile, progress, roundsOr, type Figure } from './measure.ts';
import { inPage, openRun, visit, type Looking } from './web-page.ts';

export const DIFF_FILES = 250;
/** Each is in the diff twice: as it was, and as it is. */
const CHANGED_LINES = 40;
const DIFF_MS_MAX = 300;
const DIFF_ROUNDS = 5;
const ANSWERS = 20;
const ANSWER_MS_MAX = 100;
const WAIT_MS = 120_000;

const CHANGES = `name: changes
tasks: { change: { run: "find src -name '*.ts' | xargs sed -i '1,${CHANGED_LINES}s/export/let/'" } }
`;
const ASKS = `name: asks
tasks:
  ask:
    run: |
      for n in $(seq ${ANSWERS}); do
        bosun agent ask "Question $n?" > /dev/null
        date "+had $n %s%3N"
        sleep 0.5
      done
`;

export async function* agentFigures(looking: Looking, repo: string): AsyncIterable<Figure> {
  await writeFile(path.join(repo, 'changes.yaml'), CHANGES);
  await writeFile(path.join(repo, 'asks.yaml'), ASKS);
  yield* diffFigures(looking);
  yield* answerFigures(looking);
}

async function* diffFigures(looking: Looking): AsyncIterable<Figure> {
  const run = await start(looking, 'changes.yaml');
  await untilDone(looking, run);
  const tookMs: number[] = [];
  for (let n = 0; n < roundsOr(DIFF_ROUNDS); n += 1) {
    const page = await visit(looking, `/r/${looking.name}/${run}?task=change`);
    await page.getByRole('tab', { name: 'Diff' }).waitFor();
    await page.waitForTimeout(1000);
    tookMs.push(await inPage<number>(page, 'untilThere', { key: 'd', selector: '.d-line.r' }));
    await page.context().close();
  }
  const about = `a diff of ${2 * CHANGED_LINES * DIFF_FILES} lines in ${DIFF_FILES} files, until it is there`;
  progress(`${about}: ${tookMs.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  yield atMost(1, { name: about, value: median(tookMs), baseline: DIFF_MS_MAX });
}

async function* answerFigures(looking: Looking): AsyncIterable<Figure> {
  const run = await start(looking, 'asks.yaml');
  const page = await openRun(looking, run);
  const saidMs: number[] = [];
  for (let n = 1; n <= ANSWERS; n += 1) {
    await page
      .getByRole('region', { name: 'Question' })
      .filter({ hasText: `Question ${n}?` })
      .waitFor();
    await page.waitForTimeout(100 + ((n * 37) % 180)); // at any moment of whatever has a beat
    saidMs.push(await inPage<number>(page, 'saidYes'));
  }
  await untilDone(looking, run);
  await page.context().close();
  const printed = await eventsOf(looking, run, 'attempt.output');
  const hadMs = new Map(
    printed.flatMap(({ event }) =>
      [...event.text.matchAll(/had (\d+) (\d{13})/g)].map(([, n, ms]) => [Number(n), Number(ms)] as const),
    ),
  );
  const answered = await eventsOf(looking, run, 'question.answered');
  const tookMs = saidMs.map((ms, nth) => hadMs.get(nth + 1)! - ms);
  const journalMs = answered.map(({ atMs }, nth) => atMs - saidMs[nth]!);
  progress(`answers: ${tookMs.join(' ')} ms; until the journal has them ${journalMs.join(' ')} ms`);
  yield atMost(1, {
    name: `an answer given in the page, until its agent goes on, median of ${ANSWERS}`,
    value: median(tookMs),
    baseline: ANSWER_MS_MAX,
  });
  yield atMost(1, {
    name: 'an answer given in the page, p95',
    value: percentile(95, tookMs),
    baseline: ANSWER_MS_MAX,
  });
}

interface Recorded {
  atMs: number;
  event: { text: string };
}

async function eventsOf({ server, name }: Looking, run: string, type: string): Promise<Recorded[]> {
  const at = `${server.url}/api/repositories/${name}/runs/${run}/log?types=${type}`;
  const response = await fetch(at, { headers: { authorization: `Bearer ${server.token}` } });
  const lines = (await response.text()).split('\n').filter((each) => each !== '');
  return lines.map((each) => JSON.parse(each) as Recorded);
}

async function start({ server, name }: Looking, file: string): Promise<string> {
  const { id } = await server.ask('POST', `/api/repositories/${name}/runs`, { file });
  return id as string;
}

async function untilDone({ server, name }: Looking, run: string): Promise<void> {
  const endsAtMs = performance.now() + WAIT_MS;
  for (;;) {
    const { state } = (await server.ask('GET', `/api/repositories/${name}/runs/${run}`)).run;
    if (state === 'done') return;
    if (state === 'failed' || performance.now() > endsAtMs) throw new Error(`run ${run} is ${state}`);
    await sleep(100);
  }
}
