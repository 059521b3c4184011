/** `bosun exec`: a workflow of one task, made of what was typed. */
import { shellWord } from '../../../base/shell-word.ts';
import { BosunError } from '../../../contract/errors.ts';
import { RUNTIMES } from '../../../contract/runtimes.ts';
import type { WorkflowSource } from '../../../contract/workflow.ts';
import { workflow } from '../../../definition/builder.ts';
import { runtimeHint } from '../../../definition/check/runtime-hint.ts';
import { ask, inputOf } from '../ask.ts';
import { given, textOf, type Typed } from '../command.ts';
import { watch } from '../watch.ts';

type TaskSource = WorkflowSource['tasks'][string];

export async function run(typed: Typed): Promise<number> {
  const checked = workflow({ name: 'exec', tasks: taskOf(typed) });
  const input = inputOf('run', typed, { workflow: checked, source: 'exec', trust: true });
  const verbose = { ...typed, options: { ...typed.options, verbose: true } };
  return watch(verbose, (seen) => ask('run', input, { seen }), { answerOf: Object.keys(checked.tasks)[0]! });
}

function taskOf(typed: Typed): Record<string, TaskSource> {
  const { args, hasDashes } = typed;
  const command = textOf(typed, 'command');
  const runtime = textOf(typed, 'runtime') ?? (command === undefined ? undefined : 'cli');
  const rest: TaskSource = {
    ...given('check', textOf(typed, 'check')),
    ...given('timeout', textOf(typed, 'timeout')),
    ...attemptsOf(typed),
  };
  if (args.length === 0) {
    throw new BosunError(
      'usage',
      'nothing to do: write bosun exec -- <command>, or bosun exec --runtime claude-code "<prompt>"',
    );
  }
  if (runtime !== undefined) {
    if (!(RUNTIMES as readonly string[]).includes(runtime))
      throw new BosunError(
        'usage',
        `--runtime: expected one of ${RUNTIMES.join(', ')}, got "${runtime}"${runtimeHint(runtime, RUNTIMES)}`,
      );
    const agent = {
      runtime,
      ...given('command', command),
      ...given('model', textOf(typed, 'model')),
    } as TaskSource['agent'];
    return { agent: { ...rest, agent, prompt: literally(args.join(' ')) } };
  }
  if (!hasDashes) {
    throw new BosunError(
      'usage',
      `a command goes after --, as in: bosun exec -- ${args.join(' ')}; a prompt needs an agent, as in: bosun exec --runtime claude-code "${args.join(' ')}"`,
    );
  }
  return { command: { ...rest, run: args.map(quote).join(' ') } };
}

function attemptsOf(typed: Typed): { attempts?: number } {
  const text = textOf(typed, 'attempts');
  if (text === undefined) return {};
  if (/^[1-9]\d*$/.test(text)) return { attempts: Number(text) };
  throw new BosunError('usage', `--attempts must be a whole number above 0, not "${text}"`);
}

/** What a person types here is no template. */
function literally(text: string): string {
  return text.replaceAll('${{', () => "${{ '${{' }}");
}

/** A word as the shell reads it back unchanged; what opens an expression is cut in two, so that it is none. */
function quote(word: string): string {
  return shellWord(word).replaceAll('${{', () => "$''{{");
}
