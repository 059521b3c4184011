/** The panel of a task in a browser: its head, its attempts and its log, with a made-up run behind it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop, startServer } from '../fixtures/http.ts';
import { plantRun } from '../fixtures/planted-run.ts';
import { removeTree } from '../../src/system/files/remove-tree.ts';
import { taskRun } from '../fixtures/task-run.ts';

const shop = openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
let browser: Browser;

beforeAll(async () => void (browser = await launchBrowser()));
afterAll(async () => {
  await browser.close();
  expect((await shop).server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

it.each([
  ['light', {}],
  ['dark', DARK],
  ['on a phone', PHONE],
])('shows the log of a task with its fences and its attempts, %s', async (name, options) => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, taskRun());
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?task=api`, options);
  const { page } = visitor;
  const panel = page.getByRole('complementary', { name: 'Task' });
  await panel.getByText('Check failed · npm test ended with exit code 1').waitFor();
  await panel.getByText('46 passed, 1 failed, 7.9 s').waitFor();
  expect(await panel.getByRole('list', { name: 'What it may do' }).innerText()).toContain('src/api/**');
  await page.waitForTimeout(600);
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/task-log-${name.replaceAll(' ', '-')}.png` });
  await expectAccessible(page);
});

it('shows of the log what had come by the moment of the film, and goes back to live', async () => {
  const { server, repository } = await shop;
  const events = taskRun();
  const startedAtMs = events[0]!.atMs;
  await using run = await plantRun(repository.path, events);
  const atMs = (s: number): string => `&t=${startedAtMs + s * 1000}`;
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?task=api${atMs(172)}`);
  const { page } = visitor;
  const log = page.getByRole('region', { name: 'Log' });
  await log.getByText('src/api/totals.ts').waitFor();
  expect(await log.getByText('46 passed').count()).toBe(0);
  expect(await log.getByText('Attempt 2').count()).toBe(0);
  await page.getByText('This is how it was then. Go back to live to say something.').waitFor();
  expect(await page.getByRole('group', { name: 'Attempts' }).count()).toBe(0);

  await page.keyboard.press('d');
  await page.getByText('Its changes are collected when the attempt ends.').waitFor();
  await page.keyboard.press('l');
  await page.keyboard.press('Space');
  await log.getByText('Both orders pass.').waitFor();
  await page.getByRole('group', { name: 'Attempts' }).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(/try=1/);
  expect(await page.getByRole('button', { name: /^1/, pressed: true }).count()).toBe(1);
  await page.keyboard.press(']');
  const call = log.getByRole('button', { name: /^Bash/ });
  await call.focus();
  await page.keyboard.press('Space');
  await log.getByText('command: npm test -- api').waitFor();
});

it('follows what is printed, leaves alone who reads further up, and loses no line', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, taskRun());
  const print = (text: string): Promise<void> =>
    run.add([{ type: 'attempt.output', task: 'api', attempt: 2, stream: 'stdout', text }]);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?task=api`);
  const { page } = visitor;
  const log = page.getByRole('region', { name: 'Log' });
  await log.getByText('Both orders pass.').waitFor();
  const lines = (from: number, count: number): string =>
    Array.from({ length: count }, (_, n) => `line ${from + n}.\n`).join('');
  for (let n = 0; n < 20; n++) await print(lines(n * 100, 100));
  await log.getByText('line 1999.').waitFor();
  expect(await log.locator('.ev').count()).toBeLessThan(120);

  const top = (): Promise<number> => log.evaluate((element) => element.scrollTop);
  await log.hover();
  await page.mouse.wheel(0, -6000);
  await page.getByRole('button', { name: 'To its end' }).waitFor();
  const before = await top();
  await print(lines(2000, 500));
  const said = { kind: 'text', text: 'One more word.' } as const;
  await run.add([{ type: 'attempt.agent', task: 'api', attempt: 2, event: said }]);
  await page.waitForTimeout(300);
  expect(await top()).toBe(before);
  await page.keyboard.press('f');
  await log.getByText('line 2499.').waitFor();
  await print('half of ');
  await log.getByText('half of').waitFor();
  await print('a line\rover it\n');
  await log.getByText('over it', { exact: true }).waitFor();

  await page.keyboard.press('t');
  await log.evaluate((element) => element.scrollTo({ top: 0 }));
  await log.getByText('export const routes = [];').waitFor();
  await log.getByRole('button', { name: /^Read/, expanded: true }).click();
  await log.getByRole('button', { name: /^Read/, expanded: false }).waitFor();
});

it('leads from a task that stands for others to those within it', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, taskRun());
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?task=contract`);
  const { page } = visitor;
  const panel = page.getByRole('complementary', { name: 'Task' });
  await panel.getByRole('list', { name: 'Tasks within it' }).waitFor();
  await expectAccessible(page);
  await panel.getByRole('button', { name: 'contract[add]' }).click();
  await panel.getByRole('heading', { name: 'contract[add]' }).waitFor();
});

it('tells each of eight tabs what is printed', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, taskRun());
  const at = `/r/shop/${run.id}?task=api`;
  await using visitor = await visit(browser, server, at);
  const pages = [visitor.page];
  for (let n = 0; n < 7; n++) pages.push((await visitor.another(at)).page);
  await run.add([{ type: 'attempt.output', task: 'api', attempt: 2, stream: 'stdout', text: 'for all\n' }]);
  for (const page of pages) await page.getByRole('region', { name: 'Log' }).getByText('for all').waitFor();
});

it('asks for a followed log again of which nothing is heard', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, taskRun());
  await using visitor = await visit(browser, server, '/settings');
  await visitor.page.context().addInitScript(() => {
    const real = fetch;
    let isFirst = true;
    // A connection that died, of which the browser was not told.
    const dead = (signal: AbortSignal): Response =>
      new Response(
        new ReadableStream({
          start: (body) => signal.addEventListener('abort', () => body.error(signal.reason)),
        }),
      );
    globalThis.fetch = (url, options) => {
      const isDead = isFirst && typeof url === 'string' && url.includes('follow=true');
      if (isDead) isFirst = false;
      return isDead ? Promise.resolve(dead(options!.signal!)) : real(url, options);
    };
  });
  const { page } = await visitor.another(`/r/shop/${run.id}?task=api`);
  await page.getByRole('region', { name: 'Log' }).getByText('46 passed').waitFor({ timeout: 40_000 });
});

it('goes on with the log where it stood when the server is started again', async () => {
  const state = await mkdtemp(path.join(tmpdir(), 'bosun-log-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => removeTree(state));
  const own = undo.use(await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY, state }));
  const run = undo.use(await plantRun(own.repository.path, taskRun()));
  const print = (n: number): Promise<void> =>
    run.add([{ type: 'attempt.output', task: 'api', attempt: 2, stream: 'stdout', text: `line ${n}.\n` }]);
  await using visitor = await visit(browser, own.server, `/r/shop/${run.id}?task=api`);
  const { page } = visitor;
  const log = page.getByRole('region', { name: 'Log' });
  await print(1);
  await log.getByText('line 1.').waitFor();
  const port = Number(new URL(own.server.serving.url).port);
  await own.server[Symbol.asyncDispose]();
  await print(2);
  process.env.XDG_STATE_HOME = state;
  undo.use(await startServer({ beatMs: 100, pageDirectory: PAGE_DIRECTORY, state, port }));
  await print(3);
  await log.getByText('line 3.').waitFor();
  expect(await log.getByText(/^line \d\.$/).allTextContents()).toEqual(['line 1.', 'line 2.', 'line 3.']);
});
