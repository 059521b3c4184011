/** What an agent gets from other tasks fits: an outline in place of what is long, with the whole as a file. */
import { describe, expect, it } from 'vitest';
import type { EventOf, Fact } from '../src/contract/event.ts';
import { outlineOf } from '../src/schedule/workflow/outline.ts';
import { slim, whole, type StoredValue } from '../src/store/values.ts';
import { startDecided } from './fixtures/decided-run.ts';

function gives(task: string, output: string): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1, output };
}

/** The start of `b`, which is told what `a` gave. */
function startAfter(output: string, text = 'It said ${{ tasks.a.output }}.'): EventOf<'attempt.started'> {
  const b = { agent: { runtime: 'cli' as const, command: 'true' }, prompt: text, needs: ['a'] };
  const { take } = startDecided({ tasks: { a: { run: 'true' }, b } });
  return take(gives('a', output)).find((one) => one.type === 'attempt.started')!;
}

describe('a value in a prompt', () => {
  it('is there as it is, up to a size', () => {
    const long = 'x'.repeat(32_000);
    const { prompt, files } = startAfter(long);
    expect(prompt).toBe(`It said ${long}.`);
    expect(files).toBeUndefined();
  });

  it('is an outline beyond that, and whole in a file', () => {
    const long = `# Design\nFirst words.\n${'more\n'.repeat(8000)}# Risks\nNone.\n`;
    const { prompt, files } = startAfter(long);
    expect(prompt).toBe(
      'It said # Design\nFirst words.\n# Risks\nNone.\n' +
        `(This is an outline of tasks.a.output, which has ${long.length} characters. The whole text is in the file value-1.txt, see below.).`,
    );
    expect(files).toEqual([{ name: 'value-1.txt', text: long }]);
  });

  it('is an outline too where several together are too long', () => {
    const part = 'y'.repeat(30_000);
    const { prompt, files } = startAfter(part, Array(6).fill('${{ tasks.a.output }}').join(' '));
    expect(files).toHaveLength(2);
    expect(prompt.length).toBeLessThan(129_000);
  });

  it('is whole where a command gets it: nobody reads an outline there', () => {
    const long = 'z'.repeat(40_000);
    const b = { run: 'echo ${{ tasks.a.output }}', needs: ['a'] };
    const { take } = startDecided({ tasks: { a: { run: 'true' }, b } });
    const started = take(gives('a', long)).find((one) => one.type === 'attempt.started')!;
    expect(Object.values(started.env!)).toEqual([long]);
    expect(started.files).toBeUndefined();
  });

  it('is kept beside the journal, and read back', () => {
    const started = startAfter('w'.repeat(40_000));
    const kept = new Map<string, StoredValue>();
    const small = slim(started, (value) => kept.set(value.hash, value));
    expect(JSON.stringify(small).length).toBeLessThan(2000);
    expect(whole(small, ({ hash }) => JSON.parse(kept.get(hash)!.text))).toEqual(started);
  });
});

describe('an outline', () => {
  const cases: [what: string, text: string, outline: string][] = [
    [
      'of a patch is its files',
      'diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1,2 @@\n-a\n+b\n+c\ndiff --git a/y b/y\n',
      'x.ts: 2 lines added, 1 deleted\ny: 0 lines added, 0 deleted',
    ],
    [
      'of JSON is its fields',
      '{"verdict":"accept","files":["a","b"],"by":{"name":"x"},"n":1}',
      'verdict: "accept"\nfiles: a list of 2\nby: a map with name\nn: 1',
    ],
    ['of a list is how it begins', '[1,"b",{"c":1}]', 'a list of 3:\n- 1\n- "b"\n- a map with c'],
    [
      'of a text with headings is those, each with its first line',
      'Intro.\nMore.\n# One\n\nFirst.\nSecond.\n## Two\nThird.\n',
      'Intro.\n# One\nFirst.\n## Two\nThird.',
    ],
    [
      'of any other text is how it begins and ends',
      Array.from({ length: 100 }, (_, n) => `line ${n + 1}`).join('\n'),
      [
        ...Array.from({ length: 20 }, (_, n) => `line ${n + 1}`),
        '… (75 lines)',
        ...[96, 97, 98, 99, 100].map((n) => `line ${n}`),
      ].join('\n'),
    ],
  ];
  it.each(cases)('%s', (_, text, outline) => expect(outlineOf(text, 4000)).toBe(outline));

  it('is no longer than it may be, whatever the text', () => {
    const texts = [
      'a'.repeat(1e6),
      '# b\n'.repeat(1e5),
      `[${'1,'.repeat(1e4)}1]`,
      `{"${'k'.repeat(1e6)}":1}`,
      '{"a":',
    ];
    for (const text of texts) expect(outlineOf(text, 500).length).toBeLessThan(550);
  });
});
