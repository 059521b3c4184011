/** Every command that the page tells a person to type is one that there is, with options that it has. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/doors/cli/table.ts';

/** In templates, in texts and between tags; what is put in at run time is an argument. */
const TOLD =
  /\bbosun ([a-z][a-z-]*)((?: +(?:--?[a-z][\w-]*|\$\{[^}]*\}|\{[^}]*\}|'[^']*'|"[^"]*"|[\w./-]+))*)/g;
/** Words of prose, and a command of two words. */
const PROSE = new Set(['is', 'has', 'keeps', 'itself', 'was', 'started', 'stream', 'output', 'updated']);

interface Told {
  file: string;
  text: string;
  name: string;
  rest: string;
}

function told(): Told[] {
  return globSync('web/**/*.{ts,tsx}').flatMap((file) => {
    const text = readFileSync(file, 'utf8')
      .replaceAll(/\/\*[^]*?\*\/|(?<=\s)\/\/.*$/gm, '')
      .replaceAll(/\$?\{[^{}]*\}/g, '{}');
    return [...text.matchAll(TOLD)].map(([all, name, rest]) => ({
      file,
      text: all,
      name: name!,
      rest: rest!,
    }));
  });
}

it('names only commands, options and arguments that there are', () => {
  const all = told();
  expect(all.length).toBeGreaterThan(25);
  const wrong = all.flatMap(({ file, text, name, rest }) => {
    const words = rest.trim().split(/ +/).filter(Boolean);
    const command = COMMANDS.find((each) => each.name === name);
    if (!command) return PROSE.has(name) || name === 'help' ? [] : [`${file}: ${text}: no such command`];
    const flags = (command.options ?? []).flatMap((each) => each.flags.split(/[ ,]+/));
    const wrongFlags = words.filter(
      (word) => word.startsWith('-') && !word.endsWith('-') && !flags.includes(word),
    );
    return wrongFlags.map((flag) => `${file}: ${text}: no option ${flag}`);
  });
  expect(wrong).toEqual([]);
});

it('gives a task to the commands that take one, and a run to the others', () => {
  const takesTask = new Set(
    COMMANDS.filter((each) => each.arguments?.some(({ name }) => /task/.test(name))).map(({ name }) => name),
  );
  const source = globSync('web/**/*.{ts,tsx}')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const first = [...source.matchAll(/\bbosun ([a-z]+) (?:\$?\{)([\w.]+)\}/g)];
  expect(first.length).toBeGreaterThan(10);
  const wrong = first
    .filter(([, name, given]) => /(^|\.)task|facts\.id/.test(given!) && !takesTask.has(name!))
    .map(([all]) => all);
  expect(wrong).toEqual([]);
});
