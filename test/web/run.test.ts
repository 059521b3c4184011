/** The page of a run in a browser: its film, its tasks, its states. */
import type { Browser } from 'playwright-core';
import type { Event, Recorded } from '../../src/contract/event.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tellUsd } from '../../src/report/money.ts';
import { describeUsd } from '../../src/schedule/money/budget-words.ts';
import { checkoutRun } from '../fixtures/checkout-run.ts';
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

it.each([
  ['light', {}],
  ['dark', DARK],
  ['on a phone', PHONE],
])('shows a run with its film, %s', async (name, options) => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutRun());
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`, options);
  const { page } = visitor;
  await page.getByRole('slider', { name: 'Moment of the run' }).waitFor();
  await page.waitForTimeout(600);
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/run-${name.replaceAll(' ', '-')}.png` });
  await expectAccessible(page);
});

/** The same run with other first events, at the same times. */
function checkoutWith(
  isolations: readonly Event[],
  change: (event: Event) => Event = (event) => event,
): Recorded[] {
  const [created, , ...rest] = checkoutRun();
  const first = isolations.map((event) => ({ ...created!, event }));
  return [created!, ...first, ...rest.map((each) => ({ ...each, event: change(each.event) }))];
}
const isolation = (kind: 'fences' | 'namespaces' | 'none', notes: string[] = []): Event => ({
  type: 'run.isolation',
  kind,
  notes,
  ...(kind !== 'fences' && { lacks: 'asked for with --unfenced' }),
});

it.each([
  ['are held', [isolation('fences')], 'fences hold'],
  ['are weaker than asked', [isolation('fences', ['memory is not held'])], 'fences hold, with 1 exception'],
  ['were not asked for', [isolation('namespaces')], 'not fenced'],
  ['are not there', [isolation('none')], 'not fenced'],
  ['were not there before it was resumed', [isolation('none'), isolation('fences')], 'not fenced at first'],
])('says whether fences hold: where they %s', async (_, events, words) => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutWith(events));
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`);
  const facts = visitor.page.locator('.facts');
  await facts.waitFor();
  const told = (await facts.innerText()).replaceAll(/\s+/g, ' ');
  expect(told).toContain(`${words} ·`);
});

it('names no price that nobody knows', async () => {
  const { server, repository } = await shop;
  const events = checkoutWith([isolation('fences')], (event) =>
    event.type === 'model.used' ? { ...event, usd: null } : event,
  );
  await using run = await plantRun(repository.path, events);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`);
  await visitor.page.getByRole('slider').waitFor();
  const top = await visitor.page.locator('header.top').innerText();
  expect(top).not.toContain('$0');
  expect(top).toContain('$5.00');
});

it('counts on while an agent is silent', async () => {
  const { server, repository } = await shop;
  const run = await plantRun(repository.path, checkoutRun({ endsAtMs: Date.now() - 60_000 }));
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?task=api`);
  const { page } = visitor;
  const list = page.getByRole('navigation', { name: 'Tasks' });
  const row = list
    .getByRole('button', { name: /^● ?api/ })
    .or(list.locator('button', { hasText: 'api' }).first());
  const words = async (): Promise<string[]> =>
    Promise.all([row.first().innerText(), page.locator('.task-head .meta').innerText()]);
  const before = await words();
  const goOn = async (): Promise<boolean> => (await words()).every((text, n) => text !== before[n]);
  await expect.poll(goOn, { timeout: 10_000 }).toBe(true);
  await run[Symbol.asyncDispose]();
});

it('draws the timeline also where nothing had begun when it was opened', async () => {
  const { server, repository } = await shop;
  const [created, ...rest] = checkoutRun();
  await using run = await plantRun(repository.path, [created!]);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}?view=timeline`);
  const { page } = visitor;
  await page.getByText('Nothing had run yet.').waitFor();
  await run.add(rest.slice(0, 4).map(({ event }) => event));
  const time = page.locator('.timeline .time');
  await time.waitFor();
  const roomPx = (): Promise<number> =>
    time.evaluate((element: { style: { getPropertyValue(name: string): string } }) =>
      Number.parseFloat(element.style.getPropertyValue('--room')),
    );
  await expect.poll(roomPx).toBeGreaterThan(100);
});

it('tells of a run and its tasks what the server tells of them', async () => {
  const { server, repository } = await shop;
  await using run = await plantRun(repository.path, checkoutRun());
  const { json: status } = await server.ask('GET', `/api/repositories/shop/runs/${run.id}`);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`);
  const list = visitor.page.getByRole('navigation', { name: 'Tasks' });
  await list.getByRole('button').first().waitFor();
  const rows = await list.getByRole('button').all();
  const told = await Promise.all(
    rows.map(async (row) => [await row.locator('b').innerText(), await row.locator('.unseen').innerText()]),
  );
  const tasks = status.tasks as { id: string; label?: string; state: string; held?: { by: string } }[];
  const known = tasks.map(({ id, label = id, state, held }) => [
    label,
    held?.by === 'question' ? 'asking' : state,
  ]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(known));
  const facts = (await visitor.page.locator('.facts').innerText()).replaceAll(/\s+/g, ' ');
  expect(facts).toContain(`${tellUsd(status.run.spending)} of ${describeUsd(status.run.limits.usd)}`);
});

/** In every view, whoever wrote it. */
it('shows no character that hides or turns what stands around it', async () => {
  const { server, repository } = await shop;
  const evil = 'evil \u202Etxt.exe\u200B\u{E0041}';
  const events = checkoutWith([isolation('fences', [evil])], (event) => {
    if (event.type === 'question.asked') return { ...event, text: evil };
    if (event.type === 'attempt.agent' && event.event.kind === 'text')
      return { ...event, event: { kind: 'text', text: evil } };
    if (event.type === 'attempt.finished' && event.outcome.kind === 'failed')
      return { ...event, outcome: { ...event.outcome, message: evil }, feedback: evil };
    if (event.type === 'attempt.finished' && event.collected)
      return {
        ...event,
        collected: { ...event.collected, changed: [{ path: `src/${evil}/${event.task}`, change: 'added' }] },
      };
    return event;
  });
  await using run = await plantRun(repository.path, events);
  await run.add([{ type: 'attempt.progress', task: 'api', attempt: 2, text: evil }]);
  await using visitor = await visit(browser, server, `/r/shop/${run.id}`);
  const { page } = visitor;
  await page.getByRole('slider').waitFor(); // it is signed in
  const seen = new Set<string>();
  for (const view of ['graph', 'timeline', 'journal', 'files', 'money', 'messages']) {
    await page.goto(`${server.serving.url}/r/shop/${run.id}?view=${view}&task=api`);
    await page.getByRole('slider').waitFor();
    await page.waitForTimeout(200);
    const words = await page.evaluate<string>(
      `document.body.textContent + [...document.querySelectorAll('[title]')].map((each) => each.title).join()`,
    );
    if (/[\u202E\u200B\u{E0041}]/u.test(words))
      seen.add(`${view}: ${/.{40}[\u202E\u200B\u{E0041}]/u.exec(words)?.[0]}`);
    if (words.includes('evil')) seen.add(`${view} tells it`);
  }
  expect([...seen].filter((each) => !each.endsWith('tells it'))).toEqual([]);
  expect(seen.size).toBeGreaterThan(3);
});
