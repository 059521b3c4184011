/** The page of a run in a browser: its film, its tasks, its states. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkoutRun } from '../fixtures/checkout-run.ts';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';
import { plantRun } from '../fixtures/planted-run.ts';

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
])('shows a run with its film, %s', async (name, options) => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutRun());
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`, options);
  const { page } = visitor;
  await page.getByRole('slider', { name: 'Moment of the run' }).waitFor();
  await page.waitForTimeout(600);
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/run-${name.replaceAll(' ', '-')}.png` });
  await expectAccessible(page);
});
