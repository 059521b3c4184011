/** The one stream of all tabs in a browser: it goes on where it stood, whatever becomes of the server or the way to it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { removeTree } from '../../src/system/files/remove-tree.ts';
import { launchBrowser, PAGE_DIRECTORY, visit } from '../fixtures/browser.ts';
import { checkoutRun } from '../fixtures/checkout-run.ts';
import { openShop, startServer, type TestServer } from '../fixtures/http.ts';
import { plantRun } from '../fixtures/planted-run.ts';
import { openTcpProxy } from '../fixtures/tcp-proxy.ts';

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser()));
afterAll(() => browser.close());

const JOURNAL = '?view=journal';

it('misses nothing and tells nothing twice when the server is started again', async () => {
  const state = await mkdtemp(path.join(tmpdir(), 'bosun-stream-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => removeTree(state));
  const shop = undo.use(await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY, state }));
  const run = undo.use(await plantRun(shop.repository.path, checkoutRun()));
  await using visitor = await visit(browser, shop.server, `/r/shop/${run.id}${JOURNAL}`);
  const { page } = visitor;
  await agentsOnly(page);
  await run.add([step(1), step(2)]);
  await expectSteps(page, 2);

  const port = Number(new URL(shop.server.serving.url).port);
  await shop.server[Symbol.asyncDispose]();
  await page.getByText(/not live since .* · trying/).waitFor();
  await run.add([step(3)]);
  process.env.XDG_STATE_HOME = state;
  undo.use(await startServer({ beatMs: 100, pageDirectory: PAGE_DIRECTORY, state, port }));
  await run.add([step(4)]);
  await expectSteps(page, 4);
  await page.getByText(/not live since/).waitFor({ state: 'detached' });
  await run.add([step(5)]);
  await expectSteps(page, 5);
});

it('serves eight tabs at once, each of which is told everything', async () => {
  await using shop = await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, `/r/shop/${run.id}${JOURNAL}`);
  await agentsOnly(visitor.page);
  const others = [];
  for (let n = 0; n < 7; n++) others.push(await visitor.another(`/r/shop/${run.id}${JOURNAL}`));
  const pages = [visitor.page, ...others.map(({ page }) => page)];
  for (const page of pages) await agentsOnly(page);
  await run.add([step(1)]);
  for (const page of pages) await expectSteps(page, 1);
  expect(await openStreams(shop.server)).toBe(1);
});

it.each([
  ['a lock and a channel', 'delete globalThis.SharedWorker', 1],
  ['a stream of its own', 'delete globalThis.SharedWorker; delete globalThis.BroadcastChannel', 2],
])('does with %s where there is no SharedWorker', async (_, script, streams) => {
  await using shop = await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, '/settings');
  await visitor.page.context().addInitScript(script);
  const first = await visitor.another(`/r/shop/${run.id}${JOURNAL}`);
  const second = await visitor.another(`/r/shop/${run.id}${JOURNAL}`);
  for (const { page } of [first, second]) await agentsOnly(page);
  await run.add([step(1)]);
  for (const { page } of [first, second]) await expectSteps(page, 1);
  expect(await openStreams(shop.server)).toBe(streams);
  await first.page.close();
  await run.add([step(2), step(3)]);
  await expectSteps(second.page, 3);
});

it('reads on in a tab that the browser had put aside', async () => {
  await using shop = await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, `/r/shop/${run.id}${JOURNAL}`);
  const { page } = visitor;
  await agentsOnly(page);
  await run.add([step(1)]);
  await expectSteps(page, 1);
  const tell = (type: string): Promise<void> =>
    page.evaluate(`dispatchEvent(new PageTransitionEvent('${type}', { persisted: true }))`);
  await tell('pagehide');
  await run.add([step(2)]);
  await page.waitForTimeout(500); // nothing reaches it meanwhile
  await tell('pageshow');
  await expectSteps(page, 2);
  await run.add([step(3)]);
  await expectSteps(page, 3);
});

it('has one stream for all tabs again after the machine has slept', async () => {
  await using shop = await openShop(
    { 'README.md': 'hello' },
    { pageDirectory: PAGE_DIRECTORY, beatMs: 5000 },
  );
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, `/r/shop/${run.id}${JOURNAL}`);
  const second = await visitor.another(`/r/shop/${run.id}${JOURNAL}`);
  const pages = [visitor.page, second.page];
  for (const page of pages) await agentsOnly(page);
  await run.add([step(1)]);
  for (const page of pages) await expectSteps(page, 1);
  for (const page of pages)
    await page.evaluate('{ const real = Date.now; Date.now = () => real() + 120_000; }');
  await visitor.page.waitForTimeout(2500);
  expect(await openStreams(shop.server)).toBe(1);
  await run.add([step(2)]);
  for (const page of pages) await expectSteps(page, 2);
});

it('goes on alone where the worker has died, and says in place of a run what it cannot read', async () => {
  await using shop = await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, '/settings');
  await visitor.page.context().addInitScript(() => {
    class Dead extends EventTarget {
      port = Object.assign(new EventTarget(), { postMessage() {}, start() {}, close() {} });
    }
    const Real = EventSource;
    class Kept extends Real {
      constructor(url: string) {
        super(url);
        Object.assign(globalThis, { kept: this });
      }
    }
    const ahead = Date.now() + 30_000;
    const real = Date.now;
    // The second look finds that nothing came for half a minute.
    let looks = 0;
    Date.now = () => (++looks > 4 && looks < 400 ? Math.max(real(), ahead) : real());
    Object.assign(globalThis, { SharedWorker: Dead, EventSource: Kept });
  });
  const { page } = await visitor.another(`/r/shop/${run.id}${JOURNAL}`);
  await agentsOnly(page);
  await run.add([step(1)]);
  await expectSteps(page, 1);
  await page.evaluate((id) => {
    const { kept } = globalThis as unknown as { kept: EventSource };
    const event = { type: 'attempt.finished', task: 'of another world', attempt: 1 };
    const data = JSON.stringify({ repository: 'shop', run: id, seq: 9_000_000, atMs: 1, event });
    kept.dispatchEvent(new MessageEvent('message', { data, lastEventId: 'shop:1.1' }));
  }, run.id);
  await page.getByText(/could not read the run/).waitFor();
});

it('keeps what it shows of a run where one reading fails, and reads on', async () => {
  await using shop = await openShop({ 'README.md': 'hello' }, { pageDirectory: PAGE_DIRECTORY });
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, shop.server, `/r/shop/${run.id}${JOURNAL}`);
  const { page } = visitor;
  await agentsOnly(page);
  await run.add([step(1)]);
  await expectSteps(page, 1);
  const isLog = /\/log\?/;
  let failed = 0;
  await page.route(isLog, (route) => (failed++, route.abort()));
  const tell = (type: string): Promise<void> =>
    page.evaluate(`dispatchEvent(new PageTransitionEvent('${type}', { persisted: true }))`);
  await tell('pagehide');
  await run.add([step(2)]);
  await tell('pageshow');
  await expect.poll(() => failed).toBeGreaterThan(0);
  await expectSteps(page, 1);
  await page.unroute(isLog);
  await expectSteps(page, 2);
  await run.add([step(3)]);
  await expectSteps(page, 3);
});

it('notices within 15 seconds that nothing comes any more, says so, and comes back by itself', async () => {
  await using proxy = await openTcpProxy();
  await using shop = await openShop(
    { 'README.md': 'hello' },
    { pageDirectory: PAGE_DIRECTORY, allowHosts: [`127.0.0.1:${proxy.port}`] },
  );
  proxy.to = Number(new URL(shop.server.serving.url).port);
  const { token } = shop.server.serving;
  const serving = { ...shop.server.serving, url: `http://127.0.0.1:${proxy.port}`, token };
  await using run = await plantRun(shop.repository.path, checkoutRun());
  await using visitor = await visit(browser, { serving }, `/r/shop/${run.id}${JOURNAL}`);
  const { page } = visitor;
  await agentsOnly(page);
  await run.add([step(1)]);
  await expectSteps(page, 1);

  proxy.freeze();
  const frozenAtMs = Date.now();
  await run.add([step(2)]);
  await page.getByText(/not live since .* · trying/).waitFor();
  expect(Date.now() - frozenAtMs).toBeLessThan(17_000); // 15 s, and what a busy machine takes
  expect(await page.locator('.run-page').getAttribute('class')).toContain('is-lost');
  proxy.thaw();
  await expectSteps(page, 2);
});

function step(n: number): Event {
  return {
    type: 'attempt.agent',
    task: 'api',
    attempt: 2,
    event: { kind: 'text', text: `step ${n} of many` },
  };
}

async function agentsOnly(page: Page): Promise<void> {
  await page.getByLabel('Kind of events').selectOption('agents');
}

/** Each once, in their order. */
async function expectSteps(page: Page, count: number): Promise<void> {
  const rows = page.locator('.journal-row .text', { hasText: /step \d+ of many/ });
  await rows.nth(count - 1).waitFor();
  const told = (await rows.allTextContents()).map((text) => Number(/step (\d+)/.exec(text)![1]));
  expect(told).toEqual(Array.from({ length: count }, (_, n) => n + 1));
}

async function openStreams(server: TestServer): Promise<number> {
  const { text } = await server.ask('GET', '/metrics');
  return Number(/^bosun_\w*streams?\w* (\d+)$/m.exec(text)?.[1]);
}
