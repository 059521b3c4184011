import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import type { Recorded } from '../src/contract/event.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { columnsOf, fitColumns } from '../src/report/text/columns.ts';
import { harmless, inOneLine, safeJson } from '../src/report/text/plain.ts';
import { bosun } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const HOSTILE = 'a\u001b[2J\u001b]8;;http://x\u0007b\u009b31m\u007f\u202ec\u2066\rd\u0000';
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

test('what goes to a terminal keeps lines, tabs and our colours, and nothing else that drives it', () => {
  const painted = '\u001b[32m✓\u001b[0m one\n\ttwo ';
  expect(harmless(painted + HOSTILE).startsWith(`${painted}a\\x1b`)).toBe(true);
  expect(harmless('\u001b[1;36mbosun\u001b[0m')).toBe('\u001b[1;36mbosun\u001b[0m');
  expect(harmless(HOSTILE)).not.toMatch(CONTROLS);
  expect(harmless('\u001b[8mhidden\u001b[5m')).not.toMatch(CONTROLS);
});

test('JSON stays JSON with nothing in it for a terminal', () => {
  const text = safeJson({ [HOSTILE]: [HOSTILE, '\u{e0041}'] });
  expect(text).not.toMatch(CONTROLS);
  expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE, '\u{e0041}'] });
});

test('columns are those of a terminal', () => {
  const widths = { abc: 3, '👨‍👩‍👧‍👦': 2, '🇩🇪': 2, '。': 2, 漢字: 4, é: 1, 'e\u0301': 1 };
  for (const [text, columns] of Object.entries(widths))
    expect([text, columnsOf(text)]).toEqual([text, columns]);
  // What is known without the library is what the library says.
  const chars = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
  expect(chars.filter((char) => columnsOf(`|${char}|`) !== stringWidth(`|${char}|`))).toEqual([]);
  expect(fitColumns('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 5)).toBe('👨‍👩‍👧‍👦👨‍👩‍👧‍👦…');
  expect(columnsOf(fitColumns(`e${'\u0301'.repeat(1_000_000)}`, 10))).toBeLessThanOrEqual(10);
});

test('a list of problems has one on each line, and none of them looks like another event', () => {
  const lines = new EventLines({ paint: (_, text) => text, withOutput: true });
  const message =
    'tasks.answer: must be text, but is the number 42\ntasks.ok: unknown field "x"\n 1.0s  other  done';
  const recorded = {
    run: 'r-1',
    seq: 1,
    atMs: 0,
    event: {
      type: 'task.finished',
      task: 'plan',
      state: 'failed',
      outcome: { kind: 'failed', reason: 'expand', message },
    },
  } as unknown as Recorded;
  const shown = lines.render(recorded);
  expect(shown).not.toContain('\\n');
  const [first, ...rest] = shown.trimEnd().split('\n');
  expect(first).toMatch(/^ +0\.0s {2}plan/);
  expect(rest).toHaveLength(2);
  for (const line of rest) expect(line).toMatch(/^ {20}/);
  expect(inOneLine('a: is 42\nb: unknown.\nc')).toBe('a: is 42; b: unknown. c');
});

test('errors of a command carry nothing that drives a terminal', async () => {
  await using repository = await makeRepository();
  const hostile = HOSTILE.replace('\0', '');
  for (const args of [[hostile], ['check', hostile], ['status', hostile], ['run', '--input', hostile]]) {
    const { stdout, stderr } = await bosun(repository.path, ...args);
    expect(stderr).toContain('bosun: ');
    expect(stdout + stderr).not.toMatch(CONTROLS);
  }
});
