/** A page of `bosun serve` in a browser, for `web.ts` and what it is made of, with `page-side.js` in it. It measures nothing. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { progress } from './measure.ts';
import type { Served } from './served.ts';

export const SIDE = readFileSync(path.join(import.meta.dirname, 'page-side.js'), 'utf8');

export interface Looking {
  server: Served;
  browser: Browser;
  /** Of the repository, in addresses. */
  name: string;
}

export async function visit({ browser, server }: Looking, at: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.on('pageerror', (error) => progress(`script: ${error.message}`));
  page.on(
    'console',
    (message) => message.type() === 'warning' && progress(`the page says: ${message.text()}`),
  );
  await page.goto(`${server.url}${at}#token=${server.token}`);
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
  await page.evaluate(SIDE);
  return page;
}

/** Resolves once its graph can be pressed. */
export async function openRun(looking: Looking, run: string): Promise<Page> {
  const page = await visit(looking, `/r/${looking.name}/${run}`);
  await page.waitForSelector('.graph-view [data-box]', { timeout: 60_000 });
  return page;
}

/** One of the functions of `page-side.js`. */
export function inPage<T>(page: Page, name: string, given?: unknown): Promise<T> {
  return page.evaluate<T>(`side.${name}(${JSON.stringify(given)})`);
}

/** After a moment's rest. */
export async function rested<T>(page: Page, name: string, given: unknown): Promise<T> {
  await page.waitForTimeout(400);
  return inPage(page, name, given);
}
