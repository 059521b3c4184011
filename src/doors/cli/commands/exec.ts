/** `bosun exec`: a workflow of one task, made of what was typed. */
import { BosunError } from '../../../contract/errors.ts';
import type { WorkflowSource } from '../../../contract/workflow.ts';
import { workflow } from '../../../definition/builder.ts';
import { startRun } from '../../../operations/run.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { watch } from '../watch.ts';

type TaskSource = WorkflowSource['tasks'][string];

export async function run(typed: Typed): Promise<number> {
  const cwd = process.cwd();
  const checked = workflow({ name: 'exec', ...budgetOf(typed), tasks: taskOf(typed) }, { directory: cwd });
  return watch({ ...typed, options: { ...typed.options, verbose: true } }, (options) =>
    startRun({
      cwd,
      workflow: checked,
      source: 'exec',
      dirty: isOn(typed, 'dirty'),
      ...options,
      trust: true,
    }),
  );
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
      'say what to do: bosun exec -- <command>, or bosun exec --runtime claude-code "<prompt>"',
    );
  }
  if (runtime !== undefined) {
    // Whatever the runtime is called, the check of the workflow judges it.
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
      `write a command after --, as in: bosun exec -- ${args.join(' ')} (or name an agent with --command)`,
    );
  }
  return { command: { ...rest, run: args.map(quote).join(' ') } };
}

function attemptsOf(typed: Typed): { attempts?: number } {
  const text = textOf(typed, 'attempts');
  if (text === undefined) return {};
  if (/^[1-9]\d*$/.test(text)) return { attempts: Number(text) };
  throw new BosunError('usage', `--attempts ${text} is no count; write a number such as 3`);
}

function budgetOf(typed: Typed): { budget?: { usd: number } } {
  const text = textOf(typed, 'usd');
  if (text === undefined) return {};
  const usd = Number(text);
  if (usd > 0 && Number.isFinite(usd)) return { budget: { usd } };
  throw new BosunError('usage', `--usd ${text} is no amount; write a number above 0, such as 2.50`);
}

/** What a person types here is no template. */
function literally(text: string): string {
  return text.replaceAll('${{', () => "${{ '${{' }}");
}

/** A word as the shell reads it back unchanged; what opens an expression is cut in two, so that it is none. */
function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`).replaceAll('${{', () => "$''{{")}'`;
}
