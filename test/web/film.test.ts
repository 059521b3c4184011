/** The film of a run: wound by hand and by keys, for as long as anybody likes. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, PAGE_DIRECTORY, visit } from '../fixtures/browser.ts';
import { checkoutRun } from '../fixtures/checkout-run.ts';
import { openShop } from '../fixtures/http.ts';
import { plantRun, type PlantedRun } from '../fixtures/planted-run.ts';

let browser: Browser;
let shop: Awaited<ReturnType<typeof openShop>>;
let run: PlantedRun;
let startedAtMs: number;

beforeAll(async () => {
  browser = await launchBrowser();
  shop = await openShop({ 'a.txt': 'a' }, { pageDirectory: PAGE_DIRECTORY });
  const events = checkoutRun();
  startedAtMs = events[0]!.atMs;
  run = await plantRun(shop.repository.path, events);
}, 60_000);

afterAll(async () => {
  await run[Symbol.asyncDispose]();
  await shop[Symbol.asyncDispose]();
  await browser.close();
});

const AT = '/r/shop/checkout-1';

/** Where the handle is, in seconds of the run. */
async function shownS(page: Page): Promise<number> {
  return Math.round(Number(await page.getByRole('slider').getAttribute('aria-valuenow')) / 1000);
}

describe('the film of a run', () => {
  it('follows a hand that drags it for long, and its address says where that let go', async () => {
    await using visitor = await visit(browser, shop.server, AT);
    const { page } = visitor;
    const film = page.getByRole('slider');
    await film.waitFor();
    // More often than a browser lets its address be changed.
    await page.evaluate(`{
      const film = document.querySelector('.film');
      const { left, top, width } = film.getBoundingClientRect();
      film.hasPointerCapture = () => true; // of a pointer that is none
      for (let n = 1; n <= 300; n++) {
        const clientX = left + ((n / 300) * width) / 2;
        film.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: top + 9, bubbles: true }));
      }
    }`);
    await expect.poll(() => shownS(page)).toBeGreaterThan(280);
    const value = Number(await film.getAttribute('aria-valuenow'));
    const t = (): number => Number(new URL(page.url()).searchParams.get('t'));
    await expect.poll(() => t() - startedAtMs).toBe(value);
    await page.reload();
    await film.waitFor();
    expect(Number(await film.getAttribute('aria-valuenow'))).toBe(value);
  });

  it('is wound by five seconds, to the next event and back to live by keys', async () => {
    await using visitor = await visit(browser, shop.server, AT);
    const { page } = visitor;
    await page.getByRole('slider').waitFor();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => shownS(page)).toBe(561);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => shownS(page)).toBe(551);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => shownS(page)).toBe(556);
    await page.keyboard.press('Shift+ArrowRight');
    await expect.poll(() => shownS(page)).toBeGreaterThan(556);
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => shownS(page)).toBeLessThan(556);
    await page.keyboard.press(' ');
    await expect.poll(() => shownS(page)).toBe(566);
    await expect.poll(() => new URL(page.url()).searchParams.has('t')).toBe(false);
  });

  it('is left with one step back, however often it was wound', async () => {
    await using visitor = await visit(browser, shop.server, AT);
    const { page } = visitor;
    await page.getByRole('slider').waitFor();
    await page.goto(`${shop.server.serving.url}${AT}?view=journal`);
    await page.getByRole('slider').waitFor();
    for (let n = 0; n < 5; n++) await page.keyboard.press('ArrowLeft');
    await expect.poll(() => shownS(page)).toBe(541);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).searchParams.size).toBe(0);
  });
});
