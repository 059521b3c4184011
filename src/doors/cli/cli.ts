/** The CLI door: finds the command, runs it, and turns what came of it into words and an exit code. */
import { machineError } from '../../base/machine-failure.ts';
import { isApart } from '../apart.ts';
import { ERRORS } from '../../contract/errors.ts';
import { guardStreams, requireOut, turnColorOff, say } from './output.ts';
import type { Command, Typed } from './command.ts';
import { requirePlainPaths } from './plain-paths.ts';
import { requireFitting } from './fitting-options.ts';
import { readPlainly } from './quick.ts';
import { COMMANDS } from './table.ts';

const LEFT_MS = 2000;

export async function runCli(words: string[]): Promise<void> {
  guardStreams();
  process.on('uncaughtException', (error) => void tellError(error).then((code) => process.exit(code)));
  try {
    process.exitCode = await dispatch(words);
    requireOut();
  } catch (error) {
    process.exitCode = await tellError(error);
    // A helper that could not be ended, for want of descriptors, must not keep a command that is over.
    setTimeout(() => process.exit(), LEFT_MS).unref();
  }
}

async function dispatch(words: string[]): Promise<number> {
  const ours = words.indexOf('--') === -1 ? words : words.slice(0, words.indexOf('--'));
  if (ours.includes('--no-color')) turnColorOff();
  const [name, ...rest] = words;
  const command = COMMANDS.find((known) => known.name === name);
  const plain = command && readPlainly(command, rest);
  if (plain) return start(command, plain, words);

  const { parse, unknownCommand } = await import('./parse.ts');
  const [first, second] = ours.filter((each) => !each.startsWith('-'));
  const word = first === 'help' ? second : first;
  if (word !== undefined && word !== 'help' && !COMMANDS.some((known) => known.name === word))
    throw unknownCommand(word);
  const chosen = parse(words);
  return chosen ? start(chosen.command, chosen.typed, words) : 0;
}

async function start(command: Command, typed: Typed, words: readonly string[]): Promise<number> {
  requirePlainPaths();
  requireFitting(typed);
  if (typed.options.detach === true && typed.options.dryRun !== true) {
    if (!isApart) return (await import('./detach.ts')).detach(words);
  }
  return (await command.load()).run(typed);
}

/** One message for people, also where the machine failed; a bug also leaves its details where they can be found. */
async function tellError(error: unknown): Promise<number> {
  const known = isBosunError(error) ? error : machineError(error);
  if (known) {
    say(known.message);
    return ERRORS[known.code].exit;
  }
  const { keepDetails } = await import('../bug.ts');
  say(keepDetails(error));
  return 1;
}

/** By its name: a workflow in TypeScript may bring a copy of this package with a class of its own. */
function isBosunError(error: unknown): error is Error & { code: keyof typeof ERRORS } {
  return (
    error instanceof Error &&
    error.name === 'BosunError' &&
    Object.hasOwn(ERRORS, (error as { code?: string }).code ?? '')
  );
}
