/** The page itself in a browser: how somebody gets in, and what they see who don't. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PAGE_KB_MAX, pageKb } from '../../bench/page-weight.ts';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';

const shop = openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
let browser: Browser;

beforeAll(async () => void (browser = await launchBrowser()));
afterAll(async () => {
  await browser.close();
  expect((await shop).server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

it('weighs no more than it may, all of it, compressed', () => {
  expect(pageKb(PAGE_DIRECTORY)).toBeLessThan(PAGE_KB_MAX);
});

it('opens with the address that was printed, and forgets the token at once', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  expect(visitor.page.url()).toBe(`${server.serving.url}/`);
  expect(await visitor.page.evaluate('document.cookie')).toBe('');
  await using other = await visitor.another('/');
  await other.page.getByRole('heading', { level: 1 }).waitFor();
  await expectAccessible(other.page);
});

it.each([
  ['dark', DARK],
  ['on a phone', PHONE],
])('tells a stranger what to do, and nothing else, %s', async (_, options) => {
  const { server } = await shop;
  const guess = { serving: { ...server.serving, token: 'bosun_guess' } };
  await using stranger = await visit(browser, guess, '/', options);
  await stranger.page.getByText('This browser is not signed in').waitFor();
  await expectAccessible(stranger.page);
});
