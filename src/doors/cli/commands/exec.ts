/** `bosun exec`: one agent with a prompt, or one command after `--`. */
import { BosunError } from '../../../contract/errors.ts';
import type { Recorded } from '../../../contract/event.ts';
import type { InputOf, OutputOf } from '../../../contract/operations.ts';
import { RUNTIMES, takesCommand } from '../../../contract/runtimes.ts';
import { runtimeHint } from '../../../definition/check/runtime-hint.ts';
import { ask, inputOf } from '../ask.ts';
import type { LiveRun } from '../../../operations/run.ts';
import { given, isOn, optionText, type Typed } from '../command.ts';
import { leave } from '../leave.ts';
import { say, writeOut } from '../output.ts';
import { watch } from '../watch.ts';
import { withTrust } from '../with-trust.ts';

export async function run(typed: Typed): Promise<number> {
  if (optionText(typed, 'parent') !== undefined || optionText(typed, 'agent') !== undefined)
    return spawn(typed);
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

/** An agent by its role, or as a child: another engine may drive it, and then its id is all that there is to print. */
async function spawn(typed: Typed): Promise<number> {
  for (const name of [
    'command',
    'attempts',
    'timeout',
    'dirty',
    'detach',
    'unfenced',
    'record',
    'replay',
    'timing',
  ])
    if (typed.options[name] !== undefined)
      throw new BosunError(
        'usage',
        `--${name} does not go together with --parent and --agent: an agent that has a name brings its own; to start a runtime, write --runtime`,
      );
  if (typed.args.length === 0)
    throw new BosunError('usage', 'write the prompt, as in: bosun exec --parent fix-3/implement "Test it"');
  const role = optionText(typed, 'agent');
  const prompt = typed.args.join(' ');
  const input = inputOf('spawnAgent', typed, { prompt, ...given('role', role) });
  const verbose = { ...typed, options: { ...typed.options, verbose: true } };
  const early: Recorded[] = [];
  let seen = (events: Recorded[]): void => void early.push(...events);
  const tell = { seen: (events: Recorded[]) => seen(events) };
  const { live, ...spawned } = await withTrust(() => ask('spawnAgent', input, tell));
  if (!live) return leaveChild(spawned);
  const start = async (show: typeof seen): Promise<LiveRun> => {
    show(early);
    seen = show;
    return live;
  };
  return watch(verbose, start, { answerOf: () => spawned.task });
}

/** Another process drives it, now or later. */
function leaveChild({ run, task, parent, state, notes }: OutputOf<'spawnAgent'>): number {
  for (const note of notes) say(`note: ${note}`);
  if (task === undefined) say(`it waits for ${parent} to be at work; see: bosun agents ${run}`);
  else writeOut(state === 'pending' ? `${run}\n` : `${run}/${task}\n`);
  return 0;
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
  const runtime = optionText(typed, 'runtime');
  if (runtime !== undefined && !(RUNTIMES as readonly string[]).includes(runtime))
    throw new BosunError(
      'usage',
      `--runtime: expected one of ${RUNTIMES.join(', ')}, got "${runtime}"${runtimeHint(runtime, RUNTIMES)}`,
    );
  const command = optionText(typed, 'command');
  if (RUNTIMES.some((name) => name === runtime && takesCommand(name)) && command === undefined)
    throw new BosunError(
      'usage',
      `--runtime ${runtime} needs --command: what to start, as in ${runtime === 'acp' ? '--command "gemini --acp"; bosun doctor lists the agents that are installed' : '--command "sh agent.sh"'}`,
    );
  if (runtime !== undefined || command !== undefined) return { prompt: words };
  if (hasDashes) {
    for (const name of ['model', 'attempts'])
      if (typed.options[name] !== undefined)
        throw new BosunError(
          'usage',
          `--${name} is for an agent, and what follows -- is a plain command; remove it`,
        );
    return { argv: args };
  }
  throw new BosunError(
    'usage',
    `a command goes after --, as in: bosun exec -- ${words}; a prompt needs an agent, as in: bosun exec --runtime claude-code "${words}"`,
  );
}
