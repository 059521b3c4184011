/** Home in a browser: what needs a person on top, answered in place, and all other runs below. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkoutRun } from '../fixtures/checkout-run.ts';
import { failedRun, heldRun, unmergedRun } from '../fixtures/home-runs.ts';
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

it('says what to type where no run was ever started', async () => {
  const { server, repository } = await shop;
  await using visitor = await visit(browser, server);
  await visitor.page.getByText(`cd ${repository.path} && bosun run`).waitFor();
  await visitor.page.getByRole('button', { name: 'Start a run' }).waitFor();
  await expectAccessible(visitor.page);
});

it(
  'shows what needs a person, what is at work, done and earlier, in every light',
  { timeout: 60_000 },
  async () => {
    const { server, repository } = await shop;
    await using checkout = await plantRun(repository.path, checkoutRun());
    await using failed = await plantRun(repository.path, failedRun());
    failed.abandon();
    await using unmerged = await plantRun(repository.path, unmergedRun());
    unmerged.abandon();
    await using held = await plantRun(repository.path, heldRun());
    for (const [name, options] of [
      ['light', {}],
      ['dark', DARK],
      ['phone', PHONE],
    ] as const) {
      await using visitor = await visit(browser, server, '/', options);
      const { page } = visitor;
      await page.getByRole('heading', { level: 1, name: '3 things need you. 2 runs are at work' }).waitFor();
      const needs = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
      expect(await needs.count()).toBe(3);
      expect(await needs.nth(2).innerText()).toContain('nightly-1 failed: npm test ended with exit code 1');
      expect(await page.title()).toBe('(3) bosun');
      await page.waitForTimeout(300);
      if (process.env.PICTURES)
        await page.screenshot({
          path: `${process.env.PICTURES}/home-${name}.png`,
          fullPage: name === 'phone',
        });
      await expectAccessible(page);
    }
    void [checkout, held];
  },
);
