/** `bosun exec`: one agent with a prompt, or one command after `--`. */
import { BosunError } from '../../../contract/errors.ts';
import type { InputOf } from '../../../contract/operations.ts';
import { RUNTIMES } from '../../../contract/runtimes.ts';
import { runtimeHint } from '../../../definition/check/runtime-hint.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, textOf, type Typed } from '../command.ts';
import { leave } from '../leave.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const words = wordsOf(typed);
  if (isOn(typed, 'queue')) return leave(typed, () => ask('queueExec', inputOf('queueExec', typed, words)));
  const input = inputOf('exec', typed, words);
  const verbose = { ...typed, options: { ...typed.options, verbose: true } };
  let task: string | undefined;
  return watch(
    verbose,
    async (seen) => {
      const live = await ask('exec', input, { seen });
      task = live.task;
      return live;
    },
    { answerOf: () => task },
  );
}

/** A prompt where there is an agent for it; else a command, which must not be taken for one. */
function wordsOf(typed: Typed): Pick<InputOf<'exec'>, 'prompt' | 'argv'> {
  const { args, hasDashes } = typed;
  const words = args.join(' ');
  if (args.length === 0)
    throw new BosunError(
      'usage',
      'nothing to do: write bosun exec -- <command>, or bosun exec --runtime claude-code "<prompt>"',
    );
  const runtime = textOf(typed, 'runtime');
  if (runtime !== undefined && !(RUNTIMES as readonly string[]).includes(runtime))
    throw new BosunError(
      'usage',
      `--runtime: expected one of ${RUNTIMES.join(', ')}, got "${runtime}"${runtimeHint(runtime, RUNTIMES)}`,
    );
  if (runtime !== undefined || textOf(typed, 'command') !== undefined) return { prompt: words };
  if (hasDashes) return { argv: args };
  throw new BosunError(
    'usage',
    `a command goes after --, as in: bosun exec -- ${words}; a prompt needs an agent, as in: bosun exec --runtime claude-code "${words}"`,
  );
}
