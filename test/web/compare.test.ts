/** Two runs side by side, and the candidates of a race, in a browser with a real engine behind it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { listenTo, openShop, type TestServer } from '../fixtures/http.ts';

const FLOW = `
name: flow
inputs: { word: { default: one } }
tasks:
  same: { run: 'echo same > same.txt' }
  said: { run: 'echo \${{ inputs.word }} > said.txt' }
`;
const RACE = `
name: race
tasks:
  write:
    race: 2
    judge: person
    agent: { runtime: cli, command: 'echo "<b>$BOSUN_TASK</b>" > written.txt; sh many.sh; echo done' }
    prompt: Write.
`;
/** More than is read at once, before a small file whose name and text are not what they seem. */
const MANY = `
yes 'a line that is there for nothing but to fill what is read at once of this' | head -90000 > a.txt
printf 'if user != "a\\342\\200\\256":\\n' > "$(printf 'z\\342\\200\\256gnp.py')"
`;
const shop = openShop(
  { 'bosun.yaml': FLOW, 'race.yaml': RACE, 'many.sh': MANY },
  { pageDirectory: PAGE_DIRECTORY },
);
let browser: Browser;
let server: TestServer;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ server } = await shop);
  await started({}, 'run.finished');
  await started({ inputs: { word: 'two' } }, 'run.finished');
});
afterAll(async () => {
  await browser.close();
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

it.each([
  ['light', {}],
  ['dark', DARK],
  ['on a phone', PHONE],
])('shows two runs on one axis, what differs, and each task in both, %s', async (name, options) => {
  await using visitor = await visit(browser, server, '/compare?a=shop/flow-1&b=shop/flow-2', options);
  const { page } = visitor;
  const said = page.getByRole('row', { name: /said/ });
  await said.getByText('≠ diff').waitFor();
  expect(await page.getByRole('row', { name: /same/ }).getByText('= same diff').count()).toBe(1);
  expect(await page.getByText('≠ other inputs').count()).toBe(1);
  expect(await page.getByText('= same base').count()).toBe(1);
  expect(await page.locator('.compare-same dl').innerText()).toMatch(/word\s+"one" → "two"/);
  expect(await page.locator('.compare-face .strip').count()).toBe(2);
  await page.locator('.compare-sums').getByText('2 files', { exact: true }).first().waitFor();
  await picture(page, `compare-${name}`);
  await expectAccessible(page);
});

it('says so where nothing or what is not there was chosen', async () => {
  await using visitor = await visit(browser, server, '/compare');
  const { page } = visitor;
  await page.getByText('Which two runs?').waitFor();
  await page.getByLabel('One run').selectOption('shop/flow-1');
  await page.getByText('flow-1 has no race.').waitFor();
  await page.getByLabel('The other run').selectOption('shop/flow-2');
  await page.getByRole('row', { name: /said/ }).waitFor();
  expect(new URL(page.url()).search).toBe('?a=shop%2Fflow-1&b=shop%2Fflow-2');
  await page.goto(`${server.serving.url}/compare?a=shop/flow-1&b=shop/gone-7`);
  await page.getByText('There is no run gone-7 in shop.').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${server.serving.url}/compare?a=..%2fruns&b=shop%2f..`);
  await page.getByText('Which two runs?').waitFor();
  expect(asked.filter((path) => /\/api\/(runs|repositories\/shop\/report)/.test(path))).toEqual([]);
});

it('shows the candidates of a race with their diffs, and takes the choice of a person', async () => {
  await started({ file: 'race.yaml' }, 'question.asked');
  await using visitor = await visit(browser, server, '/r/shop/race-1');
  const { page } = visitor;
  await page.locator('.badge').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  const second = page.locator('.candidate').nth(1);
  await second.getByText('+<b>write.2</b>').waitFor();
  await page.locator('.candidate').nth(0).getByText('+<b>write.1</b>').waitFor();
  await second.getByText(String.raw`+if user != "a\u{202e}":`).waitFor();
  await second.getByText('… and more, of 90,000 changed lines').waitFor(); // the last to come
  const files = await second.locator('.file').allInnerTexts();
  expect(files.map((file) => file.replaceAll(/\s+/g, ' '))).toEqual([
    'written.txt new file +1 −0',
    String.raw`z\u{202e}gnp.py new file +1 −0`,
    'a.txt new file +90,000 −0',
  ]);
  await second.getByText('Not shown in whole: 1 of 3 files').waitFor();
  expect(await page.locator('.race').innerText()).not.toMatch(/\u202e/);
  await picture(page, 'compare-race');
  await expectAccessible(page);
  await page.keyboard.press('2');
  await second.getByText('· picked').waitFor();
  await page.getByText(/was picked: .*said so/).waitFor();
  expect(await page.getByRole('button', { name: /Choose/ }).count()).toBe(0);
});

async function started(body: object, until: string): Promise<void> {
  const { at } = await shop;
  const { id } = (await server.ask('POST', `${at}/runs`, { body })).json;
  await using stream = listenTo(server.serving.url, `${at}/runs/${id}/events`, {
    token: server.serving.token,
  });
  await stream.until(({ data }) => data?.event.type === until);
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/${name.replaceAll(' ', '-')}.png` });
}
