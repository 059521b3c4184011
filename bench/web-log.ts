/** The log of a task that is at work, as a page shows it that is left open: how it keeps up, and that it has every line. */
import type { Page } from 'playwright-core';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, below, percentile, progress, type Figure } from './measure.ts';
import { processorMs } from './processor.ts';
import { inPage, visit, type Looking } from './web-page.ts';
import { line, talkingRun, word, type TalkingRun } from './web-runs.ts';

const LINES_BEFORE = 100_000;
const LINES_PER_S = 1000;
const FOR_S = 10;
/** An engine writes down so often what is printed without end. */
const BATCH_MS = 50;
const FPS_MIN = 58;
const LINE_MS_MAX = 40;
const WORDS = 100;
const EVENT_MS_MAX = 100;
/** Few steps are enough to read all of a log in it. */
const TALL_PX = 8000;

interface Watched {
  fps: number;
  /** By what was said, in milliseconds since 1970. */
  firstMs: Record<string, number>;
}

export async function* logFigures(looking: Looking, repo: string): AsyncIterable<Figure> {
  await using run = await talkingRun(repo, LINES_BEFORE);
  const page = await visit(looking, `/r/${looking.name}/${run.id}?task=task-0`);
  await page.getByText(`line ${LINES_BEFORE - 1}.`).waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1000);
  yield* lineFigures(looking, page, run);
  yield* eventFigures(page, run);
  await page.context().close();
}

async function* lineFigures({ server }: Looking, page: Page, run: TalkingRun): AsyncIterable<Figure> {
  const about = `a log of ${LINES_BEFORE} lines, ${LINES_PER_S} more a second`;
  const writtenMs = new Map<number, number>();
  const count = LINES_PER_S * FOR_S;
  await inPage(page, 'watch');
  const serverMs = processorMs(server.pid);
  const startedMs = performance.now();
  for (let n = 0; n < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - startedMs) / 1000) * LINES_PER_S));
    const numbers = Array.from({ length: due - n }, (_, nth) => LINES_BEFORE + n + nth);
    n = due;
    if (numbers.length > 0) {
      const atMs = await run.add(numbers.map(line));
      for (const each of numbers) writtenMs.set(each, atMs);
    }
    await sleep(BATCH_MS - ((performance.now() - startedMs) % BATCH_MS));
  }
  await page.waitForTimeout(500);
  const serverShare = (processorMs(server.pid) - serverMs) / (FOR_S * 1000);
  const { fps, firstMs } = await inPage<Watched>(page, 'watched');
  const tookMs = [...writtenMs].flatMap(([n, atMs]) => {
    const seenMs = firstMs[`line ${n}.`];
    return seenMs === undefined ? [] : [seenMs - atMs];
  });
  progress(
    `${about}: ${fps.toFixed(1)} frames a second; to the screen 50 % ${percentile(50, tookMs)} ms, 99 % ${percentile(99, tookMs)} ms; ${count - tookMs.length} of ${count} passed between two frames; the server took ${(100 * serverShare).toFixed(0)} % of a core`,
  );
  yield atMost(1, { name: about, value: 1000 / fps, baseline: 1000 / FPS_MIN, unit: 'ms a frame' });
  yield atMost(1, {
    name: `${about}, journal to screen, p95`,
    value: percentile(95, tookMs),
    baseline: LINE_MS_MAX,
  });
  await page.setViewportSize({ width: 1440, height: TALL_PX });
  const numbers = await inPage<number[]>(page, 'allLines');
  await page.setViewportSize({ width: 1440, height: 900 });
  const wrong =
    Math.abs(LINES_BEFORE + count - numbers.length) + numbers.filter((n, nth) => n !== nth).length;
  progress(`${about}: ${numbers.length} lines read from top to bottom`);
  yield below({ name: `${about}, lines lost`, value: wrong, baseline: 1, unit: 'lines' });
}

async function* eventFigures(page: Page, run: TalkingRun): AsyncIterable<Figure> {
  await page.waitForTimeout(1000); // it is at its end again, and follows it
  await inPage(page, 'watch');
  const writtenMs: number[] = [];
  for (let n = 0; n < WORDS; n += 1) {
    await sleep(60 + ((n * 37) % 180)); // at any moment of whatever has a beat
    writtenMs.push(await run.add([word(n)]));
  }
  await page.waitForTimeout(500);
  const { firstMs } = await inPage<Watched>(page, 'watched');
  const tookMs = writtenMs.map((atMs, n) => firstMs[`word ${n}.`]! - atMs);
  progress(
    `an event to the screen: 50 % ${percentile(50, tookMs)} ms, the slowest of ${WORDS} ${Math.max(...tookMs)} ms`,
  );
  yield atMost(1, {
    name: 'an event, journal to screen, p95',
    value: percentile(95, tookMs),
    baseline: EVENT_MS_MAX,
  });
}
