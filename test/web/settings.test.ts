/** Settings in a browser: tokens, repositories, what all runs may spend, this machine; each as the role allows. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { perform } from '../../src/operations/perform.ts';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';
import { makeRepository } from '../fixtures/repository.ts';

const shop = openShop(
  { 'README.md': 'hello', '.bosun/config.yaml': 'budget: { usd-per-day: 20 }\nisolation: required\n' },
  { pageDirectory: PAGE_DIRECTORY },
);
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
])('show this machine and what is configured, %s', async (name, options) => {
  const { server } = await shop;
  await using visitor = await visit(browser, server, '/settings', options);
  const { page } = visitor;
  await page.locator('.findings', { hasText: 'claude-code' }).waitFor();
  expect(await page.getByRole('row', { name: /^isolation required the repository/ }).count()).toBe(1);
  await picture(page, `settings-${name}`);
  await expectAccessible(page);
});

it('make a token that is shown once, and revoke it', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server, '/settings');
  const { page } = visitor;
  await page.getByLabel('New token').fill('deploy bot');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByText('Letters, digits, dots and hyphens only').waitFor();
  await page.getByLabel('New token').fill('deploy-bot');
  await page.getByLabel('Role').selectOption('run');
  await page.getByRole('button', { name: 'Make it' }).click();
  const token = await page.locator('code.token').innerText();
  expect((await server.ask('GET', '/api/session', { token })).json).toMatchObject({ role: 'run' });
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  expect(await page.content()).not.toContain(token);
  await page.getByRole('button', { name: 'Revoke deploy-bot' }).click();
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await page.getByText('Nobody but you.').waitFor();
  expect((await server.ask('GET', '/api/session', { token })).status).toBe(401);
});

it('serve another repository, and one no longer', async () => {
  const { server } = await shop;
  await using other = await makeRepository({ files: { 'a.txt': 'a' }, name: 'ledger' });
  await using visitor = await visit(browser, server, '/settings?repository=shop');
  const { page } = visitor;
  await page.getByLabel('Add one').fill('/nowhere/at/all');
  await page.getByRole('button', { name: 'Add it' }).click();
  await page.locator('.wrong').waitFor();
  await page.getByLabel('Add one').fill(other.path);
  await page.getByRole('button', { name: 'Add it' }).click();
  await page.getByRole('button', { name: 'Remove ledger' }).click();
  await page.getByText('ledger is served no longer').waitFor();
  await page.getByRole('button', { name: 'Remove ledger' }).waitFor({ state: 'detached' });
});

it('raise what all runs may spend today', async () => {
  const { server, repository } = await shop;
  await using visitor = await visit(browser, server, '/settings');
  const { page } = visitor;
  await page.getByText('of $20.00').waitFor();
  await page.getByLabel(/New limit in dollars/).fill('25');
  await page.getByRole('button', { name: 'Raise' }).click();
  await page.getByText('of $25.00').waitFor();
  const [budget] = await perform('sharedBudgets', {}, { cwd: repository.path, by: PERSON });
  expect(budget).toMatchObject({ account: 'repository:day', limitUsd: 25 });
});

it('offer nothing to who may not use it', async () => {
  const { server } = await shop;
  const { token } = await perform('addToken', { name: 'reader', role: 'read' }, { cwd: '/', by: PERSON });
  await using visitor = await visit(browser, { serving: { ...server.serving, token } }, '/settings');
  const { page } = visitor;
  await page.getByText(/You are reader@.* and may look\./).waitFor();
  await page.getByText(/of \$2\d\.00/).waitFor();
  const buttons = await page.getByRole('main').getByRole('button').allInnerTexts();
  expect(buttons).toEqual(['Sign this browser out']);
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    expect.stringContaining('Repositories'),
    expect.stringContaining('What all runs may spend'),
  ]);
});

const PERSON = { kind: 'person', name: 'anna' } as const;

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES)
    await page.screenshot({
      path: `${process.env.PICTURES}/${name.replaceAll(' ', '-')}.png`,
      fullPage: true,
    });
}
