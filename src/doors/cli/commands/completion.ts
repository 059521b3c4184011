/** `bosun completion`: scripts made from the table of commands. */
import { bashScript, fishScript, zshScript } from '../completion-scripts.ts';
import type { Typed } from '../command.ts';
import { writeOut } from '../output.ts';

const SCRIPTS: Record<string, () => string> = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function run({ args }: Typed): Promise<number> {
  writeOut(SCRIPTS[args[0]!]!());
  return 0;
}
