/** The static report in a browser: the same look as the page, readable for everybody, and nothing of an agent runs in it. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildReport } from '../../src/report/build.ts';
import { renderHtml } from '../../src/report/html/html.ts';
import { TOKENS } from '../../src/report/html/tokens.ts';
import { DARK, expectAccessible, launchBrowser, PHONE } from '../fixtures/browser.ts';
import { checkoutRun } from '../fixtures/checkout-run.ts';
import { hostile, patchOf, tenTasks, type Fixture } from '../fixtures/report.ts';

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser()));
afterAll(() => browser.close());

it('has the tokens of the page, each the same', () => {
  const css = readFileSync(new URL('../../web/app/tokens.css', import.meta.url), 'utf8');
  expect(plain(TOKENS)).toBe(plain(css.replaceAll(/\/\*[\s\S]*?\*\//g, '')));
});

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };

it.each([
  ['light', WIDE],
  ['dark', { ...WIDE, ...DARK }],
  ['on a phone', PHONE],
])('can be read by everybody, %s', async (name, options) => {
  for (const [what, fixture] of Object.entries({
    ten: tenTasks(),
    checkout: { events: checkoutRun(), diffs: new Map() },
  })) {
    await using shown = await show(fixture, options);
    await expectAccessible(shown.page);
    const { scroll, width } = await shown.page.evaluate<{ scroll: number; width: number }>(
      '({ scroll: document.documentElement.scrollWidth, width: innerWidth })',
    );
    expect(scroll).toBeLessThanOrEqual(width);
    expect(await shown.page.locator('.film .bar-of').count()).toBeGreaterThan(5);
    if (process.env.PICTURES)
      await shown.page.screenshot({
        path: `${process.env.PICTURES}/report-${what}-${name.replaceAll(' ', '-')}.png`,
      });
  }
});

it('runs nothing that an agent wrote', async () => {
  await using shown = await show(hostile(), WIDE);
  const { page, asked } = shown;
  expect(await page.title()).not.toContain('owned');
  expect(await page.locator('script, img, iframe, object').count()).toBe(0);
  expect(asked).toEqual([]);
});

async function show({ events, diffs }: Fixture, options: BrowserContextOptions) {
  const patches = new Map([...diffs].map(([task, text]) => [task, patchOf([Buffer.from(text)])]));
  const html = renderHtml(buildReport(events, { diffs: patches, shownState: 'running' }));
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.setContent(html);
  return { page, asked, [Symbol.asyncDispose]: () => context.close() };
}

function plain(css: string): string {
  return css.replaceAll(/\s+/g, ' ').trim();
}
