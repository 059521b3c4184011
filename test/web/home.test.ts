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

it('answers with y and x only what is chosen, and shows hostile words as they are', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutRun());
  const evil =
    '<img src=x onerror="document.title=1"><script>document.title=2</script> \u202Etxt.exe\u001B[2J';
  await run.add([
    { type: 'attempt.asked', task: 'api', attempt: 2, id: 'api+2.1', text: evil, default: 'no', tool: true },
    { type: 'question.asked', task: 'api', id: 'api+2.1', text: evil, default: 'no', tool: true },
    {
      type: 'attempt.agent',
      task: 'cart-ui',
      attempt: 1,
      event: { kind: 'text', text: evil },
    },
  ]);
  await using visitor = await visit(browser, server);
  const { page } = visitor;
  const needs = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
  const card = needs.filter({ hasText: 'May api do this?' });
  await card.waitFor();
  expect(await card.innerText()).toContain(String.raw`<img src=x onerror="document.title=1">`);
  expect(await card.innerText()).toContain(String.raw`\u{202e}txt.exe`);
  expect(await page.title()).toMatch(/^\(\d\) bosun$/);

  await page.keyboard.press('y'); // two of them ask, and none is chosen
  await page.waitForTimeout(200);
  expect(await page.getByText('You said').count()).toBe(0);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  const first = needs.filter({ hasText: 'May emails write' });
  await first.getByText('You said “no”').waitFor();
  expect(await page.getByText('You said').count()).toBe(1);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('May api do this?').waitFor();
  expect(page.url()).toContain('ask=api');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await needs.first().waitFor();
});

it('notifies once for a question, whichever tabs are open, and only after somebody asked for it', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutRun());
  await using visitor = await visit(browser, server);
  const { page } = visitor;
  await page.context().addInitScript(() => {
    const sent: string[] = [];
    const fake = class extends EventTarget {
      static get permission(): string {
        return localStorage.getItem('may') ?? 'default';
      }
      static async requestPermission(): Promise<string> {
        localStorage.setItem('may', 'granted');
        return 'granted';
      }
      constructor(title: string) {
        super();
        sent.push(title);
      }
      close(): void {}
    };
    Object.assign(globalThis, { Notification: fake, sent });
  });
  const sentIn = (at: typeof page): Promise<string[]> => at.evaluate('sent');
  const ask = (n: number): Promise<void> => {
    const asked = { task: 'api', id: `api+2.${n}`, text: `Question ${n}?`, default: 'no' };
    return run.add([
      { type: 'attempt.asked', attempt: 2, ...asked },
      { type: 'question.asked', ...asked },
    ]);
  };
  await page.reload();
  const card = (n: number) => page.getByRole('listitem').filter({ hasText: `Question ${n}?` });
  await page.locator('.rail .live').waitFor();
  await ask(1);
  await card(1).first().waitFor();
  expect(await sentIn(page)).toEqual([]);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });
  await using other = await visitor.another('/');
  await other.page.getByRole('listitem').filter({ hasText: 'Question 1?' }).first().waitFor();
  await ask(2);
  await card(2).first().waitFor();
  await other.page.getByRole('listitem').filter({ hasText: 'Question 2?' }).first().waitFor();
  await expect
    .poll(async () => [...(await sentIn(page)), ...(await sentIn(other.page))])
    .toEqual(['Question 2?']);
});
