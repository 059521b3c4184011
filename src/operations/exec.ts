/** A run of one task, with no workflow file: an agent with a prompt, or a plain command. */
import path from 'node:path';
import { shellWord } from '../base/shell-word.ts';
import { BosunError } from '../contract/errors.ts';
import type { Asked } from '../contract/operations.ts';
import { topOf } from './check.ts';
import { startRun, type LiveRun, type WatchOptions } from './run.ts';
import { literally, workflowOfOne, type TaskSource } from './workflow-of-one.ts';
import { INLINE, type TrustOptions } from './trust.ts';

export type ExecOptions = Asked<'exec'> & WatchOptions;

/** Whoever writes it here has read it: what it reaches beyond the repository is asked about only where they say so. */
export async function execTask(options: ExecOptions): Promise<LiveRun & { task: string }> {
  const { task, ...made } = execWorkflow(options);
  const live = await startRun({ ...options, ...made });
  const place = options.prompt === undefined ? '' : placeOf(options.cwd);
  const note = `the agent starts at the top of the repository, not in ${place}; name its files from there`;
  return { ...live, ...(place !== '' && { notes: [...live.notes, note] }), task };
}

/** What is asked for as a workflow, and the name of its one task. */
export function execWorkflow(
  options: Asked<'queueExec'> & TrustOptions,
): Pick<Asked<'run'>, 'workflow' | 'source' | 'trust'> & { task: string } {
  const task = options.prompt === undefined ? 'command' : 'agent';
  const workflow = workflowOfOne('exec', [task, taskOf(options, placeOf(options.cwd))], options.cwd);
  const { trust = true } = options;
  return { workflow, source: trust ? 'exec' : INLINE, trust, task };
}

/** The directory below the top of the repository in which somebody stands; empty at the top. */
function placeOf(cwd: string): string {
  const top = topOf(cwd);
  return top === undefined ? '' : path.relative(top, path.resolve(cwd));
}

/** Commands run where the person stands who typed them; `place` may be of any name. */
function runIn(place: string, command: string): string {
  return place === '' ? command : `cd ${quote(place.startsWith('-') ? `./${place}` : place)} && ${command}`;
}

function taskOf(options: Asked<'queueExec'>, place: string): TaskSource {
  const { prompt, argv, command, model, check, attempts, timeout } = options;
  const limits: TaskSource = {
    ...(check !== undefined && { check: runIn(place, place === '' ? check : `(${check}\n)`) }),
    ...(timeout !== undefined && { timeout }),
    ...(attempts !== undefined && { attempts }),
  };
  if (prompt !== undefined) {
    const runtime = options.runtime ?? (command === undefined ? undefined : 'cli');
    const agent: TaskSource['agent'] = {
      ...(runtime !== undefined && { runtime }),
      ...(command !== undefined && { command }),
      ...(model !== undefined && { model }),
    };
    return { ...limits, agent, prompt: literally(prompt) };
  }
  if (argv === undefined || argv.length === 0)
    throw new BosunError('usage', 'exec: give a prompt for an agent, or argv, the words of a command');
  return { ...limits, run: runIn(place, argv.map(quote).join(' ')) };
}

/** A word as the shell reads it back unchanged; what opens an expression is cut in two, so that it is none. */
function quote(word: string): string {
  return shellWord(word).replaceAll('${{', () => "$''{{");
}
