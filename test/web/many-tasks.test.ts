/** A run of thousands of tasks in a browser: all of them can be reached, and few of them are in the document. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, PAGE_DIRECTORY, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';
import { plantRun } from '../fixtures/planted-run.ts';
import { History } from '../fixtures/report.ts';

const TASKS = 3000;

let browser: Browser;
const shop = openShop({ 'a.txt': 'a' }, { pageDirectory: PAGE_DIRECTORY });

beforeAll(async () => void (browser = await launchBrowser()));
afterAll(async () => {
  await browser.close();
  await (await shop)[Symbol.asyncDispose]();
});

it('lists three thousand tasks, of which those in view are in the document', async () => {
  const { server, repository } = await shop;
  // One after the other, the last written first.
  const chain = Array.from({ length: TASKS }, (_, n) => [
    `task-${n}`,
    { run: 'true', ...(n < TASKS - 1 && { needs: [`task-${n + 1}`] }) },
  ]);
  const { events } = new History('chain-1', { name: 'chain', tasks: Object.fromEntries(chain) });
  await using run = await plantRun(repository.path, events);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`);
  const { page } = visitor;
  const list = page.getByRole('navigation', { name: 'Tasks' });
  const named = (name: string) => list.getByRole('button', { name });
  await named('task-0 ').waitFor();
  expect(await list.getByRole('button').count()).toBeLessThan(100);
  for (let n = 0; n < 60; n++) await page.keyboard.press('j');
  await expect.poll(() => new URL(page.url()).searchParams.get('task')).toBe('task-60');
  const isInView = `(() => {
    const list = document.querySelector('nav.list').getBoundingClientRect();
    const row = document.querySelector('nav.list [aria-current]').getBoundingClientRect();
    return row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
  })()`;
  await expect.poll(() => page.evaluate<boolean>(isInView)).toBe(true);
  await list.evaluate((element: { scrollTop: number; scrollHeight: number }) => {
    element.scrollTop = element.scrollHeight;
  });
  await named(`task-${TASKS - 1} `).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('task')).toBe(`task-${TASKS - 1}`);
  expect(await list.getByRole('button').count()).toBeLessThan(100);
  await list.getByRole('searchbox').fill('task-1234');
  await named('task-1234 ').click();
  expect(await list.getByRole('button').count()).toBe(1);
});
