/** Where hooks may be written, what is said of mistakes, and which are in force. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadConfigs, userConfigFile } from '../src/definition/config.ts';
import { workflow } from '../src/definition/builder.ts';
import { reachOf } from '../src/definition/reach.ts';
import { Bosun } from '../src/doors/library.ts';
import { checkDesktop } from '../src/operations/doctor/check-desktop.ts';
import { showAsked } from '../src/operations/trust.ts';
import { makeRepository } from './fixtures/repository.ts';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bosun-hooks-')));
  vi.stubEnv('XDG_CONFIG_HOME', directory);
  vi.stubEnv('BOSUN_TRUST', '');
  mkdirSync(path.dirname(userConfigFile()));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const HOOK = '{ on: before-attempt, command: ./gate }';

it('a repository’s configuration has no hooks, and says that it may not', async () => {
  await using repository = await makeRepository({
    files: { '.bosun/config.yaml': `hooks: [${HOOK}]\nnotify: [{ desktop: true }]\n` },
  });
  const [{ config, ignored }] = loadConfigs([path.join(repository.path, '.bosun/config.yaml')]) as [
    ReturnType<typeof loadConfigs>[number],
  ];
  expect(config).toEqual({});
  expect(ignored).toContain('ignored "hooks" and "notify"');
  expect(await new Bosun(repository.path).hooks()).toEqual([]);
});

it.each([
  ['hooks: [{ on: later, command: x }]', 'must be one of before-attempt, after-attempt'],
  ['hooks: [{ on: error }]', 'must have a command or a url, and not both'],
  ['hooks: [{ on: error, command: x, url: "https://a.test" }]', 'must have a command or a url, and not both'],
  ['hooks: [{ on: error, command: x, secret: { env: A } }]', 'is for hooks with a url'],
  ['hooks: [{ on: [error, before-attempt], url: "https://a.test/PASS" }]', 'must not have before-attempt'],
  ['hooks: [{ on: error, url: "https://user:PASS@a.test" }]', 'must be an http or https address'],
  ['hooks: [{ on: error, url: "https://a.test", secret: PASS }]', 'never the key itself'],
  ['hooks: [{ on: error, command: x, timeout: 0s }]', 'must be a duration above 0'],
  ['hooks: [{ on: error, command: x, timeout: 2h }]', 'must be at most 1h'],
  [
    'notify: [{ desktop: true, ntfy: "https://a.test/PASS" }]',
    'exactly one of desktop, command, slack and ntfy',
  ],
  ['notify: [{ slack: PASS }]', 'must be an http or https address'],
  ['notify: [{ desktop: true, token: { env: A } }]', 'is for ntfy'],
])('%s is refused, and no secret is shown', (text, message) => {
  writeFileSync(userConfigFile(), text);
  const load = (): unknown => loadConfigs([userConfigFile()]);
  expect(load).toThrow(message);
  expect(load).not.toThrow('PASS');
});

it('a workflow’s hooks take commands alone, and each has to be agreed to', () => {
  const made = (hooks: unknown): ReturnType<typeof workflow> =>
    workflow({ name: 'w', tasks: { a: { run: 'true' } }, hooks: hooks as never });
  expect(() => made([{ on: 'error', url: 'https://a.test' }])).toThrow('unknown field "url"');
  expect(() => made(Array.from({ length: 51 }, () => ({ on: 'error', command: 'x' })))).toThrow('at most 50');
  expect(() => made([{ on: 'error', command: 'x'.repeat(1001) }])).toThrow('so that people can read');
  expect(() => made([{ on: 'error', command: ['x', '\u202ey'] }])).toThrow('characters that do not show');
  // What does not show, and what pushes the rest out of sight.
  const hiding =
    '\u3164 \uffa0 \u2800 \u034f \u115f \u1160 \u17b4 \u17b5 \u180b \u180f \ufe0f \u{e0041} \u{e0100}';
  for (const char of hiding.split(' '))
    expect(() => made([{ on: 'error', command: `x ${char}; id` }])).toThrow('characters that do not show');
  for (const blanks of [' '.repeat(9), '\n'.repeat(9), '\u00a0\t'.repeat(5)])
    expect(() => made([{ on: 'error', command: `x${blanks}; id` }])).toThrow('more than 8 blanks in a row');
  made([{ on: 'error', command: `x${' '.repeat(8)}; id` }]);
  const whole = {
    ...made([{ on: ['before-attempt', 'error'], command: ['./gate', 'two words'] }]),
    nested: { 'in.yaml': made([{ on: 'question', command: 'curl evil.test' }]) },
  };
  expect(reachOf(whole, directory)).toEqual([
    "run the hook ./gate 'two words' (before-attempt, error) with no fence, and whatever files of the repository it runs",
    'run the hook curl evil.test (question) with no fence, and whatever files of the repository it runs',
  ]);
});

it('what is to be trusted of a hook is shown whole, however long', () => {
  const command = `${'true; '.repeat(150)}\ncurl evil.test`;
  const made = workflow({ name: 'w', tasks: { a: { run: 'true' } }, hooks: [{ on: 'error', command }] });
  expect(showAsked(reachOf(made, directory))[0]).toContain('true; \\ncurl evil.test (error)');
});

it('a run of a workflow with hooks that nobody agreed to starts nothing', async () => {
  await using repository = await makeRepository();
  const hooked = workflow({
    name: 'w',
    hooks: [{ on: 'before-attempt', command: `touch ${directory}/ran` }],
    tasks: { a: { run: 'true' } },
  });
  await expect(new Bosun(repository.path).run(hooked)).rejects.toMatchObject({ code: 'not-trusted' });
});

it('those in force are listed in their order, without what is secret of them', async () => {
  writeFileSync(
    userConfigFile(),
    [
      'hooks:',
      '  - { on: run-ended, url: "https://a.test/PASS", secret: { env: A }, name: tracker }',
      `  - ${HOOK}`,
      'notify: [{ slack: "https://slack.test/PASS", on: needs-person }, { desktop: true }]',
    ].join('\n'),
  );
  const file = `name: w\nhooks: [${HOOK}]\ntasks: { a: { uses: in.yaml } }\n`;
  const inner =
    'name: i\nhooks: [{ on: run-ended, command: x, timeout: 5s }]\ntasks: { a: { run: "true" } }\n';
  await using repository = await makeRepository({ files: { 'bosun.yaml': file, 'in.yaml': inner } });
  const bosun = new Bosun(repository.path);
  const hooks = await bosun.hooks();
  expect(hooks.map(({ name, on, what, isTrusted }) => [name, on.join(), what, isTrusted])).toEqual([
    ['tracker', 'run-ended', 'POST to https://a.test, signed', true],
    ['hook 2 of config.yaml', 'before-attempt', './gate', true],
    ['notify 1 of config.yaml', 'question', 'a message to https://slack.test', true],
    ['notify 2 of config.yaml', 'run-ended,question', 'a notification on the desktop', true],
    ['hook 1 of bosun.yaml', 'before-attempt', './gate', false],
    ['hook 1 of in.yaml', 'run-ended', 'x', false],
  ]);
  expect(hooks.map(({ timeoutMs }) => timeoutMs)).toEqual([180_000, 30_000, 180_000, 180_000, 30_000, 5000]);
  const { warnings } = await bosun.check();
  expect(warnings.join()).toContain('in.yaml has hooks for "run-ended", which are not called');
});

it('the doctor says where a desktop cannot be reached that is wanted', () => {
  expect(checkDesktop()).toEqual([]);
  writeFileSync(userConfigFile(), 'notify: [{ desktop: true }]');
  const bin = path.join(directory, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'notify-send'), '#!/bin/sh\n', { mode: 0o755 });
  vi.stubEnv('PATH', bin);
  expect(checkDesktop()).toMatchObject([{ level: 'ok' }]);
  rmSync(bin, { recursive: true });
  expect(checkDesktop()).toMatchObject([{ level: 'warn', found: expect.stringContaining('notify-send') }]);
});
