/** The form that starts a run, in a browser with a real engine behind it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { perform } from '../../src/operations/perform.ts';
import { DARK, expectAccessible, launchBrowser, PAGE_DIRECTORY, PHONE, visit } from '../fixtures/browser.ts';
import { openShop } from '../fixtures/http.ts';

const CHECKOUT = `
name: checkout
concurrency: 2
budget: { usd: 5 }
inputs:
  target: { options: [web, mail], required: true, description: Where it goes. }
  note: { description: 'Anything, <b>also this</b>.' }
  copies: { type: number, default: 2 }
  dry: { type: boolean, description: Change nothing. }
tasks:
  plan: { run: 'date > plan.txt' }
  say: { needs: [plan], run: 'echo \${{ inputs.target }} \${{ inputs.copies }} \${{ inputs.dry }} > said.txt' }
`;
const files = {
  'bosun.yaml': CHECKOUT,
  'ci/broken.yaml': 'tasks:\n  one:\n    run: "true"\n    needs: [two]\n',
  'ci/reaching.yaml':
    'name: reaching\nhooks: [{ on: before-attempt, command: "true" }]\ntasks:\n  one: { run: "true" }\n',
};
const shop = openShop(files, { pageDirectory: PAGE_DIRECTORY });
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
])(
  'is made of the inputs of the workflow, and says what is wrong at the field, %s',
  async (name, options) => {
    const { server } = await shop;
    await using visitor = await visit(browser, server, '/new', options);
    const { page } = visitor;
    await page.getByLabel('target').waitFor();
    expect(await page.getByLabel('copies').inputValue()).toBe('2');
    expect(await page.getByText('Anything, <b>also this</b>.').count()).toBe(1);
    expect(await page.getByText('2 tasks, at most 2 at once').count()).toBe(1);
    await page
      .getByText(/fences ok|isolation/i)
      .first()
      .waitFor();
    await page.getByLabel('copies').fill('many');
    await page.getByLabel('Budget $').fill('-1');
    await page.getByLabel('copies').press('ControlOrMeta+Enter');
    await page.getByText('This is required.').waitFor();
    expect(await page.getByText('This must be a number.', { exact: true }).count()).toBe(1);
    expect(await page.getByText('This must be a number above 0.').count()).toBe(1);
    expect(await page.locator(':focus').getAttribute('aria-invalid')).toBe('true');
    await picture(page, `new-${name}`);
    await expectAccessible(page);
  },
);

it('starts the run with what was filled in, and shows it', async () => {
  const { server, repository } = await shop;
  await using visitor = await visit(browser, server, '/new');
  const { page } = visitor;
  await page.getByLabel('target').selectOption('mail');
  await page.getByLabel('dry').check();
  await page.getByLabel('Budget $').fill('7');
  expect(await page.getByText('bosun run -i target=mail -i dry=true --usd 7').count()).toBe(1);
  await page.getByLabel('copies').press('ControlOrMeta+Enter');
  await page.waitForURL(/\/r\/shop\/checkout-1$/);
  await page.locator('.badge', { hasText: 'done in' }).waitFor();
  const report = await perform('report', { run: 'checkout-1' }, { cwd: repository.path, by: PERSON });
  expect(report.run).toMatchObject({ inputs: { target: 'mail', copies: 2, dry: true, note: null } });
  await page.keyboard.press('n');
  await page.getByText('by its last run that was done').waitFor();
  expect(page.url()).toMatch(/\/new\?repository=shop$/);
});

it('says where a workflow is wrong, with line and column', async () => {
  const { server } = await shop;
  await using visitor = await visit(browser, server, '/new');
  const { page } = visitor;
  await page.getByLabel('Workflow').selectOption('ci/broken.yaml');
  await page.getByText('Nothing can be started yet').waitFor();
  expect(await page.getByText('ci/broken.yaml:4:13').count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Start' }).count()).toBe(0);
  await expectAccessible(page);
});

it('asks whether what reaches beyond the repository is trusted, whoever may say so', async () => {
  const { server, repository } = await shop;
  const before = process.env.BOSUN_TRUST;
  process.env.BOSUN_TRUST = '0';
  try {
    await using visitor = await visit(browser, server, '/new?file=ci/reaching.yaml');
    const { page } = visitor;
    await page.getByText('asks for more than this repository. Do you trust it?').waitFor();
    const start = page.getByRole('button', { name: 'Start' });
    expect(await start.isDisabled()).toBe(true);
    await picture(page, 'new-trust');
    await page.getByLabel('Yes, for this run.').check();
    expect(await page.getByText('bosun run ci/reaching.yaml --trust').count()).toBe(1);
    const file = path.join(repository.path, 'ci/reaching.yaml');
    const shown = readFileSync(file, 'utf8');
    writeFileSync(file, shown.replace('"true" }]', '"id" }]'));
    await start.click();
    await page.getByText('asks for more than you were shown: run the hook id').waitFor();
    await expect.poll(() => start.isDisabled(), { message: 'the tick was for another list' }).toBe(true);
    writeFileSync(file, shown);
    await page.reload();
    await page.getByLabel('Yes, for this run.').check();
    await start.click();
    await page.waitForURL(/\/r\/shop\/reaching-1$/);

    const { token } = await perform('addToken', { name: 'runner', role: 'run' }, { cwd: '/', by: PERSON });
    const other = { serving: { ...server.serving, token } };
    await using runner = await visit(browser, other, '/new?file=ci/reaching.yaml');
    await runner.page.getByText('This is for an admin to say.').waitFor();
    expect(await runner.page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  } finally {
    process.env.BOSUN_TRUST = before;
  }
});

it('starts one agent with a prompt, and shows nothing to who may only look', async () => {
  const { server, repository } = await shop;
  await using visitor = await visit(browser, server, '/new?with=agent');
  const { page } = visitor;
  await page.getByLabel('Agent').selectOption('cli');
  await page.getByLabel('Command').fill('cat > prompt.txt');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('This is required.').waitFor();
  await page.getByLabel('Prompt').fill("Say 'hello' to <script>");
  await picture(page, 'new-agent');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/r\/shop\/exec-1$/);
  await page.locator('.badge', { hasText: 'done in' }).waitFor();
  const around = { cwd: repository.path, by: PERSON };
  const { files: changed } = await perform('diff', { run: 'exec-1', stat: true }, { ...around, write() {} });
  expect(changed).toMatchObject([{ path: 'prompt.txt' }]);

  const { token } = await perform('addToken', { name: 'reader', role: 'read' }, around);
  await using reader = await visit(browser, { serving: { ...server.serving, token } }, '/new');
  await reader.page.getByText('You may look, and start nothing.').waitFor();
  expect(await reader.page.getByRole('button', { name: 'Start' }).count()).toBe(0);
});

const PERSON = { kind: 'person', name: 'anna' } as const;

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/${name.replaceAll(' ', '-')}.png` });
}
