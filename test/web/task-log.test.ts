/** The panel of a task in a browser: its head, its attempts and its log, with a made-up run behind it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';
import { plantRun } from '../fixtures/planted-run.ts';
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
