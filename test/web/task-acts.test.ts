/** What a person does in the panel of a task, with a real engine behind it: speak, comment, try again, look at files. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';

/** A picture of one dot. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const EVIL = '<img src=x onerror=document.title=1>';
const TALK = `
name: talk
tasks:
  work:
    agent: { runtime: acp, command: [node, agent.ts] }
    prompt: ask first
    check: grep good src.txt
`;
const FILES = `
name: files
tasks:
  make:
    run: |
      printf '\\033[31mred\\033[0m <script>document.title=2</script>\\n'
      mkdir -p 'out/<b>' report
      echo '${EVIL}' > 'out/${EVIL}.txt'
      printf 'a\\nb\\n' > "out/$(printf 'bidi\\342\\200\\256txt')"
      echo {} > package-lock.json
      seq 1 2000 > out/large.txt
      echo ${PNG} | base64 -d > report/dot.png
      { head -c 16 report/dot.png; printf '\\000\\000\\200\\000\\000\\000\\200\\000'; tail -c +25 report/dot.png; } > report/wide.png
      echo '<script>document.title=3</script>' > report/page.html
      echo '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=4"/>' > report/fake.png
      echo no > out/left.md
    scope: { write: ['out/*.txt', 'out/bidi*', package-lock.json, 'report/**'] }
    artifacts: ['report/**']
`;
/** 7 MB in 280 files. */
const MANY = `
name: many
tasks:
  make:
    run: |
      mkdir many
      line=$(head -c 40 /dev/zero | tr '\\0' a)
      for n in $(seq 500 1090); do echo "$n $line"; done > many/100
      for n in $(seq 101 379); do cp many/100 many/$n; done
    scope: { write: ['many/**'] }
`;
const shop = openShop(
  {
    'agent.ts': readFileSync('test/fixtures/listening-agent-program.ts'),
    'src.txt': 'one\ntwo\nthree\n',
    'talk.yaml': TALK,
    'files.yaml': FILES,
    'many.yaml': MANY,
  } as never,
  { pageDirectory: PAGE_DIRECTORY },
);
let browser: Browser;

beforeAll(async () => void (browser = await launchBrowser()));
afterAll(async () => {
  await browser.close();
  expect((await shop).server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

async function start(file: string): Promise<string> {
  const { server, at } = await shop;
  const { status, json, text } = await server.ask('POST', `${at}/runs`, { body: { file } });
  expect([status, text]).toEqual([202, expect.any(String)]);
  return json.id as string;
}

async function retried(run: string): Promise<number> {
  const { server, at } = await shop;
  const { text } = await server.ask('GET', `${at}/runs/${run}/log?types=task.retried`);
  return text.split('\n').filter(Boolean).length;
}

async function picture(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(300);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/task-${name}.png` });
}

describe('the panel of a task', { timeout: 90_000 }, () => {
  it('speaks to the agent, and gives a comment on a line to the next attempt', async () => {
    const { server, at } = await shop;
    const id = await start('talk.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${id}?task=work`);
    const { page } = visitor;
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('Asks: May I go on?').waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('Use the parser');
    expect(await page.getByText("= bosun steer work 'Use the parser'").isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    await log.getByText('Use the parser', { exact: true }).waitFor();
    const answered = await server.ask('POST', `${at}/runs/${id}/answer`, { body: { answer: 'ok' } });
    expect([answered.status, answered.text]).toEqual([200, expect.any(String)]);
    await log.getByText('heard: Use the parser').waitFor();
    await log.getByText(/^The check .* failed/).waitFor();

    await page.getByRole('textbox', { name: 'Tell the next attempt of work' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('d');
    const diff = page.getByRole('region', { name: 'Diff' });
    await diff.getByText('+bad').waitFor();
    await page.keyboard.press('ControlOrMeta+k'); // a browser obeys the first autofocus of a page, and no other
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await diff.getByRole('button', { name: 'Comment on line 2' }).last().click();
    await page.keyboard.type('be good');
    await picture(page, 'comment');
    await expectAccessible(page);
    await page.keyboard.press('Control+Enter');
    await diff.getByText('its next attempt is told').waitFor();
    await page.keyboard.press('r'); // which only goes to the button
    await page.waitForTimeout(300);
    expect(await retried(id)).toBe(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('l');
    await log.getByText('Attempt 2 · told why').waitFor();
    await log.getByText(/^Done/).waitFor();
    await page.getByText('It is done, and its work is on the branch.').waitFor();
    const events = await server.ask('GET', `${at}/runs/${id}/log?task=work&types=task.retried`);
    expect((JSON.parse(events.text) as { event: { feedback: string } }).event.feedback).toBe(
      'A person read what attempt 1 had changed, which is not in these files any more, and said:\n\nsrc.txt:2\n> + bad\nbe good',
    );
    await picture(page, 'retried');
    await page.keyboard.press('[');
    await page.waitForURL(/try=1/);
  });

  it('does not take words meant for an agent that has ended since for those to its next attempt', async () => {
    const { server, at } = await shop;
    const id = await start('talk.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${id}?task=work`);
    const { page } = visitor;
    await page.getByRole('region', { name: 'Log' }).getByText('Asks: May I go on?').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('wait for me');
    await server.ask('POST', `${at}/runs/${id}/cancel`, { body: {} });
    await page.getByRole('textbox', { name: 'Tell the next attempt of work' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Its attempt has ended.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Tell the next attempt' }).inputValue()).toBe(
      'wait for me',
    );
    expect(await retried(id)).toBe(0);
    await page.getByRole('textbox', { name: 'Tell the next attempt' }).fill('');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(300);
    expect(await retried(id)).toBe(0);
  });

  it('reads of a large diff what is in view, and no more', async () => {
    const { server } = await shop;
    const id = await start('many.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${id}?task=make`);
    const { page } = visitor;
    await page.getByText(/^Done · /).waitFor();
    let asked = 0;
    page.on('request', (request) => void (/\/patch.*path=/.test(request.url()) && asked++));
    await page.keyboard.press('d');
    const diff = page.getByRole('region', { name: 'Diff' });
    await diff
      .getByRole('button', { name: /many\/10\d/ })
      .first()
      .waitFor();
    const read = (): Promise<unknown> =>
      diff
        .getByText(/^\+5\d\d a+$/)
        .first()
        .waitFor();
    await read();
    await page.waitForTimeout(500);
    expect(asked).toBe(0);
    await diff.evaluate((element) => ((element as unknown as { scrollTop: number }).scrollTop = 1e9));
    await page.waitForTimeout(1500);
    await read();
    expect(asked).toBeLessThan(6); // of 280
  });

  it('shows hostile output, file names and artifacts as text, pictures as pictures, and all as downloads', async () => {
    const { server, at } = await shop;
    const id = await start('files.yaml');
    await using visitor = await visit(browser, server, `/r/shop/${id}?task=make`, DARK);
    const { page } = visitor;
    await page.getByText(/^Done · /).waitFor();
    expect(await page.locator('.log .out .f2').textContent()).toBe('red');
    await page.locator('.log .out', { hasText: 'red <script>document.title=2</script>' }).waitFor();

    await page.keyboard.press('d');
    const diff = page.getByRole('region', { name: 'Diff' });
    await diff.getByRole('button', { name: `out/${EVIL}.txt`, exact: false }).waitFor();
    await diff.getByText('bidi\\u{202e}txt').waitFor();
    await diff.getByText(`+${EVIL}`).waitFor();
    await diff.getByRole('button', { name: 'package-lock.json', expanded: false }).click();
    await diff.getByText('+{}').waitFor();
    await diff.getByRole('button', { name: /large\.txt/, expanded: false }).waitFor();
    await picture(page, 'diff');
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Outside its scope/ }).click();
    await diff.getByRole('button', { name: /left\.md/ }).waitFor();

    await page.keyboard.press('a');
    const artifacts = page.getByRole('region', { name: 'Artifacts' });
    await artifacts.getByRole('img', { name: 'report/dot.png' }).waitFor();
    await artifacts.getByText('It cannot be shown as a picture.').first().waitFor();
    await artifacts.getByText('It is too large to be shown: 32768 × 32768 pixels.').waitFor();
    expect(await artifacts.getByRole('img').count()).toBe(1);
    await expectAccessible(page);
    await picture(page, 'artifacts');
    const saved = page.waitForEvent('download');
    await artifacts.getByRole('link', { name: /page\.html/ }).click();
    expect((await saved).suggestedFilename()).toBe('page.html');
    const raw = await server.ask('GET', `${at}/runs/${id}/tasks/make/artifact?path=report%2Fpage.html`);
    expect(raw.headers['content-disposition']).toMatch(/^attachment/);
    expect(raw.headers['x-content-type-options']).toBe('nosniff');
    expect(await page.title()).toBe(`${id} · bosun`);

    await using phone = await visit(browser, server, `/r/shop/${id}?task=make&tab=diff`, PHONE);
    await phone.page.getByText('bidi\\u{202e}txt').waitFor();
    await picture(phone.page, 'diff-on-a-phone');
    await expectAccessible(phone.page);
  });
});
