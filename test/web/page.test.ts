/** The page itself in a browser: how somebody gets in, and what they see who don't. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
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

it('hands its session to no other server of this machine, and ends it for good', async () => {
  const { server } = await shop;
  const { url } = server.serving;
  await using visitor = await visit(browser, server);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  const [cookie] = await visitor.page.context().cookies(`${url}${await placeIn(visitor.page)}/api/session`);
  const heard: (string | undefined)[] = [];
  const stranger = createServer((request, response) => {
    heard.push(request.headers.cookie);
    response.end('<title>stranger</title>');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as AddressInfo;
  const page = await visitor.page.context().newPage();
  for (const at of ['/', '/api/session', '/s/x/api/session'])
    await page.goto(`http://127.0.0.1:${port}${at}`);
  expect(heard.filter(Boolean)).toEqual([]);
  expect(await placeIn(page)).toBeNull();
  await page.close();
  await new Promise((resolve) => stranger.close(resolve));
  const place = await placeIn(visitor.page);
  const replayed = async (): Promise<number> => {
    const headers = { cookie: `${cookie!.name}=${cookie!.value}` };
    return (await server.ask('GET', `${place}/api/session`, { token: undefined, headers })).status;
  };
  expect(await replayed()).toBe(200);
  await visitor.page.goto(`${url}/settings`);
  await visitor.page.getByRole('button', { name: 'Sign this browser out' }).click();
  await visitor.page.getByText('This browser is not signed in').waitFor();
  expect(await replayed()).toBe(401);
  expect(await placeIn(visitor.page)).toBeNull();
});

function placeIn(page: Page): Promise<string | null> {
  return page.evaluate<string | null>("localStorage.getItem('bosun-place')");
}

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

it('keeps whoever is signed in that comes with an old address', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  await using other = await visitor.another('/settings#token=bosun_of_yesterday');
  await other.page.getByRole('heading', { name: /Settings/ }).waitFor();
  expect(other.page.url()).toBe(`${server.serving.url}/settings`);
});

it('can be let in by the same address once the server answers', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, { serving: { ...server.serving, token: 'bosun_guess' } });
  const { page } = visitor;
  await page.getByText('This browser is not signed in').waitFor();
  const isSession = /\/api\/session$/;
  await page.route(isSession, (route) => route.abort());
  await page.goto(`${server.serving.url}/settings#token=${server.serving.token}`);
  await page.getByText('The server does not answer').waitFor();
  await page.unroute(isSession);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: /Settings/ }).waitFor();
});

it('says what to do where a view cannot be shown, as where the server answers what it does not know', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server);
  const { page } = visitor;
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.route(/\/doctor$/, (route) => route.fulfill({ json: [{}] }));
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByText('This view cannot be shown.').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await page.getByText('This view cannot be shown.').waitFor({ state: 'detached' });
  await page.unroute(/\/doctor$/);
});

it('says so where signing out did not work', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server, '/settings');
  const { page } = visitor;
  await page.getByRole('button', { name: 'Sign this browser out' }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Sign this browser out' }).click();
  await page.locator('.notices').getByText('the server does not answer').waitFor();
});
