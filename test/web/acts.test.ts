/** What a person does with runs in a browser, with real engines behind: answers, cancels, tries again, merges, undoes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible, launchBrowser, PAGE_DIRECTORY, visit } from '../fixtures/browser.ts';
import { openShop, type TestServer } from '../fixtures/http.ts';
import type { TestRepository } from '../fixtures/repository.ts';

const ASKS = `name: asks
tasks:
  work:
    scope: { write: [out/**] }
    run: |
      bosun agent ask "May I?" > out/may.txt
      date +%s%3N > out/at.txt
      bosun agent ask "Which database?" --choices Postgres SQLite > out/db.txt
      bosun agent ask "Which sizes?" --choices small large huge --several > out/sizes.txt
      bosun agent ask "Which name?" --text > out/name.txt
      bosun agent request-access README.md && echo granted > README.md
  ship: { needs: [work], approve: 'Ship it?' }
`;
const FAILS = `name: fails\ntasks: { test: { run: 'test -f ../fixed || test -f fixed.txt', check: 'true' } }\n`;
const SLOW = 'name: slow\ntasks: { one: { run: sleep 60 } }\n';
const PARTED = `name: parted
concurrency: 3
tasks:
  one: { run: sleep 60 }
  other: { run: 'sleep 4; bosun agent ask "May I?"' }
  after: { needs: [one], run: 'true' }
`;
const LANDS = `name: lands\ntasks: { one: { run: 'echo theirs > shared.txt; mkdir -p lib; echo new > lib/new.txt' } }\n`;
const CHECKED = `name: checked\nmerge: { check: 'echo looked at it; test -f never' }\ntasks: { one: { run: 'echo x > x.txt' } }\n`;
const FILES = {
  'README.md': 'hello\n',
  'shared.txt': 'first\n',
  'out/kept.txt': '',
  'asks.yaml': ASKS,
  'fails.yaml': FAILS,
  'slow.yaml': SLOW,
  'parted.yaml': PARTED,
  'lands.yaml': LANDS,
  'checked.yaml': CHECKED,
};

const shop = openShop(FILES, { pageDirectory: PAGE_DIRECTORY });
let browser: Browser;
let server: TestServer;
let repository: TestRepository;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ server, repository } = await shop);
});
afterAll(async () => {
  await browser.close();
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

async function start(file: string): Promise<string> {
  const { json, status, text } = await server.ask('POST', '/api/repositories/shop/runs', { body: { file } });
  expect(status, text).toBe(202);
  return json.id as string;
}

async function stateOf(run: string): Promise<{ state: string; questions: { id: string; text: string }[] }> {
  return (await server.ask('GET', `/api/repositories/shop/runs/${run}`)).json.run;
}

async function eventsOf(run: string, type: string): Promise<Record<string, any>[]> {
  const { json } = await server.ask('GET', `/api/repositories/shop/runs/${run}/events?limit=1000`);
  return json.events.filter(({ event }: { event: { type: string } }) => event.type === type);
}

const until = (run: string, state: string): Promise<void> =>
  expect.poll(async () => (await stateOf(run)).state, { timeout: 30_000 }).toBe(state);
const asking = (page: Page, words: string) =>
  page.getByRole('region', { name: 'Question' }).filter({ hasText: words });
const picture = async (page: Page, name: string): Promise<void> => {
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
};

it(
  'answers each kind of question where it is asked, and the agent has the answer at once',
  { timeout: 90_000 },
  async () => {
    const run = await start('asks.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${run}`);
    const { page } = visitor;
    const ask = (words: string) => asking(page, words);
    await ask('May I?').waitFor();
    const clickedAtMs = Date.now();
    await page.keyboard.press('y');
    await ask('Which database?').getByRole('button', { name: 'SQLite' }).click();
    await ask('Which sizes?').getByLabel('small').check();
    await ask('Which sizes?').getByLabel('huge').check();
    await ask('Which sizes?').getByRole('button', { name: 'Answer' }).click();
    await ask('Which name?').getByLabel('Your answer').fill('Anna y x'); // no key while somebody types
    await page.keyboard.press('Enter');
    await ask('May work write README.md?').getByText('No other task owns it.').waitFor();
    await page.keyboard.press('Enter'); // Look
    const look = page.getByRole('dialog');
    await look.getByText('bosun answer').waitFor();
    await look.getByLabel('Note').fill('just this once');
    await expectAccessible(page);
    await picture(page, 'look');
    await look.getByRole('button', { name: 'Grant' }).click();
    await look.getByText('You said “yes”').waitFor();
    await page.keyboard.press('Escape');

    await page.keyboard.press('g');
    await page.keyboard.press('h');
    const card = page.getByRole('listitem').filter({ hasText: 'Ship it?' });
    await card.getByRole('button', { name: 'Approve' }).click();
    await until(run, 'done');
    const said = await eventsOf(run, 'question.answered');
    expect(said.map(({ event }) => [event.answer, event.note])).toEqual([
      ['yes', undefined],
      ['SQLite', undefined],
      ['small, huge', undefined],
      ['Anna y x', undefined],
      ['yes', 'just this once'],
      ['yes', undefined],
    ]);
    const patch = (await server.ask('GET', `/api/repositories/shop/runs/${run}/patch`)).text;
    const agentHadItMs = Number(/\+(\d{13})/.exec(patch)![1]) - clickedAtMs;
    if (process.env.FIGURES) console.log(`an answer reached the agent after ${agentHadItMs} ms`);
    expect(agentHadItMs).toBeLessThan(5000); // 90 ms on a machine that does nothing else
  },
);

it(
  'tells two people who was first, and keeps an answer while the server cannot be reached',
  { timeout: 90_000 },
  async () => {
    const run = await start('asks.yaml');
    await using anna = await visit(browser, server, `/r/shop/${run}`);
    await using bert = await visit(browser, server, '/');
    const card = bert.page.getByRole('listitem').filter({ hasText: 'work asks: May I?' });
    await card.getByRole('button', { name: 'Yes' }).waitFor(); // it is known that bert may answer
    await bert.page.context().setOffline(true);
    await card.getByRole('button', { name: 'Yes' }).click();
    await card.getByText('Kept: “yes” is sent as soon as the server answers.').waitFor();
    await asking(anna.page, 'May I?').getByRole('button', { name: 'No' }).click();
    await asking(anna.page, 'Which database?').waitFor();
    await bert.page.context().setOffline(false);
    await bert.page.getByText('Answered elsewhere: “no”').waitFor();

    // kept and sent once, where nobody was first
    const next = bert.page.getByRole('listitem').filter({ hasText: 'Which database?' });
    await next.waitFor();
    await bert.page.context().setOffline(true);
    await next.getByRole('button', { name: 'Postgres' }).dblclick();
    await next.getByText('Kept: “Postgres”').waitFor();
    await bert.page.context().setOffline(false);
    await asking(anna.page, 'Which sizes?').waitFor();
    const said = await eventsOf(run, 'question.answered');
    expect(said.map(({ event }) => event.answer)).toEqual(['no', 'Postgres']);

    await anna.page.keyboard.press('C');
    await anna.page.getByRole('button', { name: 'Cancel the run' }).click();
    await until(run, 'cancelled');
    await anna.page.getByRole('button', { name: 'Resume' }).waitFor();
  },
);

it('tries a failed run again, sets a budget, pauses, cancels', { timeout: 90_000 }, async () => {
  const failed = await start('fails.yaml');
  await until(failed, 'failed');
  await using visitor = await visit(browser, server, '/');
  const { page } = visitor;
  const card = page.getByRole('listitem').filter({ hasText: `${failed} failed:` });
  await card.getByRole('button', { name: 'Try again' }).click();
  const resumed = async (): Promise<number> => (await eventsOf(failed, 'run.resumed')).length;
  await expect.poll(resumed, { timeout: 20_000 }).toBe(1);

  const slow = await start('slow.yaml');
  await page.goto(`${server.serving.url}/r/shop/${slow}`);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.keyboard.press('b');
  await page.getByLabel('New limit').fill('7.50');
  await expectAccessible(page);
  await picture(page, 'budget');
  await page.keyboard.press('Enter');
  await page.getByText('the run may spend $7.50.').waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Continue' }).waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.keyboard.press('C');
  await page.getByLabel('At once').check();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await until(slow, 'cancelled');
  expect((await eventsOf(slow, 'budget.set')).map(({ event }) => event.limits)).toEqual([{ usd: 7.5 }]);
});

it(
  'cancels one task: what needs it is skipped, the others go on, and what is shown stays',
  { timeout: 60_000 },
  async () => {
    const run = await start('parted.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${run}`);
    const { page } = visitor;
    const panel = page.getByRole('complementary', { name: 'Task', exact: true });
    await panel.getByRole('heading', { name: /^one ?, running$/ }).click(); // somebody reads here
    await asking(page, 'May I?').waitFor();
    await panel.getByRole('heading', { name: /^one ?, running$/ }).waitFor();
    await page.keyboard.press('X');
    const dialog = page.getByRole('dialog', { name: 'Cancel one?' });
    await dialog.getByText(`bosun cancel ${run} one`).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel the task' }).click();
    await panel.getByRole('heading', { name: /^one ?, cancelled$/ }).waitFor();
    const states = async (): Promise<string[]> => {
      const { json } = await server.ask('GET', `/api/repositories/shop/runs/${run}/tasks`);
      const tasks = (json.tasks ?? json) as { id: string; state: string }[];
      return tasks.map(({ id, state }) => `${id} ${state}`);
    };
    expect(await states()).toEqual(['one cancelled', 'other running', 'after skipped']);
    await page.keyboard.press('y');
    await until(run, 'failed');
    expect(await states()).toEqual(['one cancelled', 'other done', 'after skipped']);
  },
);

it(
  'shows what a merge brings and where it conflicts, merges, and undoes it',
  { timeout: 90_000 },
  async () => {
    const run = await start('lands.yaml');
    await until(run, 'done');
    const before = await repository.git('rev-parse', 'HEAD');
    await using visitor = await visit(browser, server, `/r/shop/${run}`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Merge' }).waitFor();
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('lib/new.txt').waitFor();
    await picture(page, 'merge');
    await expectAccessible(page);
    expect(await repository.git('rev-parse', 'HEAD')).toBe(before);
    await dialog.locator('button:focus', { hasText: 'Merge into main' }).waitFor();
    await dialog.getByLabel('Squash').check();
    await dialog.getByText('one commit', { exact: false }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('main is squashed').waitFor();
    expect(readFileSync(path.join(repository.path, 'shared.txt'), 'utf8')).toBe('theirs\n');

    await page.getByRole('button', { name: 'Merged' }).click();
    await dialog.getByRole('button', { name: 'Undo the merge' }).click();
    await page.getByText('Undone: main is at').waitFor();
    expect(await repository.git('rev-parse', 'HEAD')).toBe(before);
    expect(await repository.git('status', '--porcelain')).toBe('');

    await repository.commit('mine', { 'shared.txt': 'mine\n' });
    await page.keyboard.press('m');
    await dialog.getByText('One file conflicts').waitFor();
    await dialog.getByText('<<<<<<< yours').waitFor();
    await picture(page, 'conflict');
    await expectAccessible(page);
    expect(await dialog.getByRole('button', { name: 'Merge into main' }).isDisabled()).toBe(true);
  },
);

it('shows what a failing check of a merge printed', { timeout: 60_000 }, async () => {
  const run = await start('checked.yaml');
  await until(run, 'done');
  const before = await repository.git('rev-parse', 'HEAD');
  await using visitor = await visit(browser, server, `/r/shop/${run}`);
  const { page } = visitor;
  await page.getByRole('button', { name: 'Merge' }).waitFor();
  await page.keyboard.press('m');
  await page.getByRole('button', { name: 'Merge into main' }).click();
  await page.getByLabel('What the check printed').filter({ hasText: 'looked at it' }).waitFor();
  await page.getByText('nothing was merged').waitFor();
  expect(await repository.git('rev-parse', 'HEAD')).toBe(before);
});
