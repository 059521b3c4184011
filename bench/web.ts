/**
 * What it is like to look at runs in the page that `bosun serve` shows: Debian's Chromium, which draws without a graphics
 * card, on the package as npm packs it. Server and browser share the machine.
 */
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { installedBosun } from './installed.ts';
import { atMost, below, median, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { PAGE_KB_MAX, pageKb } from './page-weight.ts';
import { makeRepository } from './repository.ts';
import { startServing } from './served.ts';
import { agentFigures, DIFF_FILES } from './web-agent.ts';
import { logFigures } from './web-log.ts';
import { inPage, openRun, rested, SIDE, visit, type Looking } from './web-page.ts';
import { chainRun, longRun, wideRun } from './web-runs.ts';

const PAINT_ROUNDS = 9;
const PAINT_MS_MAX = 350;
const WIDE_TASKS = 10_000;
const MOUNT_MS_MAX = 500;
const FPS_MIN = 45;
const PAGE_MB_MAX = 120;
const LONG_TASKS = 1000;
const FOLD_MS_MAX = 600;
const WIND_MS_MAX = 100;
const CHAIN_TASKS = 4000;
const ROUNDS = 5;

const WEB = path.join(import.meta.dirname, '..', 'web');

export const bench: Bench = {
  name: 'web',
  about: 'the page of bosun serve in a browser',
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(1);
    const wide = await wideRun(repo, WIDE_TASKS);
    const long = await longRun(repo, LONG_TASKS);
    const chain = await chainRun(repo, CHAIN_TASKS);
    const other = await makeRepository(DIFF_FILES);
    const server = await startServing([repo, other]);
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--disable-gpu', '--mute-audio'],
    });
    const looking = { server, browser, name: path.basename(repo) };
    try {
      yield* paintFigures(looking);
      yield* wideFigures(looking, wide.id);
      yield* longFigures(looking, long);
      yield* chainFigures(looking, chain.id);
      yield* logFigures(looking, repo);
      yield* agentFigures({ ...looking, name: path.basename(other) }, other);
    } finally {
      await browser.close();
      await server.end();
    }
  },
};

async function* paintFigures(looking: Looking): AsyncIterable<Figure> {
  const tookMs: number[] = [];
  for (let n = 0; n < roundsOr(PAINT_ROUNDS); n += 1) {
    const page = await visit(looking, '/');
    tookMs.push(await inPage<number>(page, 'firstPaintMs'));
    await page.context().close();
  }
  progress(`first paint: ${tookMs.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  yield atMost(1, { name: 'first paint', value: median(tookMs), baseline: PAINT_MS_MAX });
  const directory = path.join(path.dirname(installedBosun()), '..', 'dist', 'web');
  const assets = { name: 'all assets, compressed', value: pageKb(directory), unit: 'kB' } as const;
  yield atMost(1, { ...assets, baseline: PAGE_KB_MAX });
}

async function* wideFigures(looking: Looking, run: string): AsyncIterable<Figure> {
  const page = await openRun(looking, run);
  const mountMs: number[] = [];
  for (let n = 0; n < roundsOr(ROUNDS); n += 1) {
    mountMs.push(await rested<number>(page, 'clicked', 'Draw all of them'));
    if (n < roundsOr(ROUNDS) - 1) await rested(page, 'clicked', 'Fold it again');
  }
  const all = `all ${WIDE_TASKS} tasks`;
  yield atMost(1, {
    name: `graph of ${all}, until it is there`,
    value: median(mountMs),
    baseline: MOUNT_MS_MAX,
  });
  for (const [what, key] of [
    ['as it is first seen', undefined],
    ['all in view', '0'],
  ] as const) {
    if (key !== undefined) await page.keyboard.press(key);
    await page.waitForTimeout(500);
    const { fps, p95Ms } = await inPage<{ fps: number; p95Ms: number }>(page, 'panned', 4000);
    progress(
      `panning ${all}, ${what}: ${fps.toFixed(1)} frames a second, 95 % within ${p95Ms.toFixed(0)} ms`,
    );
    yield atMost(1, {
      name: `panning ${all}, ${what}`,
      value: 1000 / fps,
      baseline: 1000 / FPS_MIN,
      unit: 'ms a frame',
    });
  }
  for (const view of ['2', '3', '4', '6']) {
    const ms = await rested<number>(page, 'pressed', view);
    progress(`view ${view} of ${all}: ${ms.toFixed(0)} ms`);
  }
  await page.keyboard.press('1');
  await page.waitForTimeout(500);
  yield atMost(1, {
    name: `memory of the page with ${all}`,
    value: await heapMb(page),
    baseline: PAGE_MB_MAX,
    unit: 'MB',
  });
  await page.context().close();
}

async function* longFigures(
  looking: Looking,
  { id, lastSeq }: { id: string; lastSeq: number },
): AsyncIterable<Figure> {
  const events = `${lastSeq} events`;
  const startedMs = performance.now();
  const page = await openRun(looking, id);
  progress(`a run of ${events} is there after ${(performance.now() - startedMs).toFixed(0)} ms`);
  const winds = await inPage<number[]>(
    page,
    'wound',
    [0.97, 0.5, 0.03, 0.75, 0.25, 0.99, 0.4, 0.6, 0.1, 0.9],
  );
  progress(`winding ${events}: ${winds.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  yield atMost(1, {
    name: `winding ${events}, the slowest of ${winds.length}`,
    value: Math.max(...winds),
    baseline: WIND_MS_MAX,
  });
  const fps = await inPage<number>(page, 'dragged', 8000);
  progress(`dragging the film of ${events}: ${fps.toFixed(1)} moments a second`);
  progress(`memory of the page with ${events}: ${(await heapMb(page)).toFixed(0)} MB`);
  await page.context().close();
  yield* foldFigures(looking, id, events);
}

/** The fold of the page alone, in a page of its own. */
async function* foldFigures(
  { browser, server, name }: Looking,
  run: string,
  events: string,
): AsyncIterable<Figure> {
  const code = await foldOfPage();
  const response = await fetch(`${server.url}/api/repositories/${name}/runs/${run}/log?withoutOutput=true`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const text = await response.text();
  const page = await browser.newPage();
  await page.evaluate(`${code}\nglobalThis.fold = fold`);
  await page.evaluate(SIDE);
  const tookMs: number[] = [];
  for (let n = 0; n < roundsOr(ROUNDS); n += 1) tookMs.push(await inPage<number>(page, 'folded', text));
  progress(`folding ${events}: ${tookMs.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  yield atMost(1, { name: `reading and folding ${events}`, value: median(tookMs), baseline: FOLD_MS_MAX });
  await page.close();
}

/** Made of the same files in the same way. */
async function foldOfPage(): Promise<string> {
  const made = await build({
    configFile: path.join(WEB, 'vite.config.ts'),
    build: {
      write: false,
      lib: { entry: path.join(WEB, 'data', 'run-fold.ts'), formats: ['iife'], name: 'fold' },
    },
  });
  const [{ output }] = made as { output: { code: string }[] }[] as [{ output: { code: string }[] }];
  return output[0]!.code;
}

async function* chainFigures(looking: Looking, run: string): AsyncIterable<Figure> {
  const page = await openRun(looking, run);
  const ms = await rested<number>(page, 'clicked', 'Draw all of them');
  yield below({
    name: `graph of a chain of ${CHAIN_TASKS}, until it is there`,
    value: ms,
    baseline: MOUNT_MS_MAX,
  });
  await page.context().close();
}

async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}
