/** Reads plain arguments without the parser's help: it takes as long to load as a short command has in all. */
import type { Command, Typed } from './command.ts';

/**
 * Undefined for whatever is not plain (help, short options, lists and choices, mistakes): the parser then judges. It
 * never accepts what the parser would refuse.
 */
export function readPlainly(command: Command, words: readonly string[]): Typed | undefined {
  const flags = new Set(
    (command.options ?? []).flatMap(({ flags }) => /^(?:-\w, )?--([a-z-]+)$/.exec(flags)?.[1] ?? []),
  );
  const valued = new Set(
    (command.options ?? []).flatMap(({ flags, repeat, choices }) =>
      repeat || choices ? [] : (/^(?:-\w, )?--([a-z-]+) <[^>.]+>$/.exec(flags)?.[1] ?? []),
    ),
  );
  const places = command.arguments ?? [];
  if (places.some(({ choices }) => choices)) return undefined;
  const typed: Typed = { command, args: [], options: {}, hasDashes: false };
  for (let n = 0; n < words.length; n++) {
    const word = words[n]!;
    const name = word.slice(2);
    if (!word.startsWith('-')) typed.args.push(word);
    else if (word.startsWith('--') && flags.has(name)) typed.options[camelCase(name)] = true;
    else if (word.startsWith('--') && valued.has(name) && /^[^-]/.test(words[n + 1] ?? ''))
      typed.options[camelCase(name)] = words[++n]!;
    else return undefined;
  }
  const needed = places.filter(({ required }) => required).length;
  const most = places.at(-1)?.many ? Infinity : places.length;
  return typed.args.length >= needed && typed.args.length <= most ? typed : undefined;
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
