/**
 * Whether what an attempt did is enough: its output fits, its check passes, no conflict is left, its plan can be carried
 * out; and what a candidate of a race is worth. It changes nothing, and decides nothing about the task.
 */
import type { Attempt, Stages } from './attempt.ts';
import { tellOutside } from '../collect/tell-outside.ts';
import type { EventOf } from '../contract/event.ts';
import type { FailReason } from '../contract/run.ts';
import { checkExpansionApart } from '../definition/expansion/thread.ts';
import { runCommand, type CommandEnd } from '../runtime/agent/command.ts';
import { outputProblem } from '../runtime/output/structured-output.ts';
import type { Job } from '../runtime/runtime.ts';
import { rejectIn } from '../schedule/workflow/handoff.ts';
import { scoreCommand } from '../schedule/workflow/prompt.ts';
import { effectiveLimits, effectiveScope } from '../schedule/workflow/scope-of.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { lastNumber } from './last-number.ts';
import type { Surroundings } from './surroundings.ts';

/** What came of an attempt. */
export type Ending = Pick<
  EventOf<'attempt.finished'>,
  'outcome' | 'collected' | 'output' | 'feedback' | 'expansion' | 'error' | 'score' | 'story'
>;

/** An attempt that ended well is done only if its output and its check agree. */
export async function judgeWork(
  stages: Stages,
  attempt: Attempt,
  around: Surroundings,
  job: Job,
  workspace: Workspace | undefined,
  ending: Ending,
): Promise<Ending> {
  const { task, start, workflow } = attempt;
  if (start.purpose === 'resolve') {
    const left = await filesWithMarkers(stages.git, ending.collected!.commit, attempt.conflictFiles);
    if (left.length > 0)
      return notEnough(ending, 'conflict', `conflict markers are left in ${left.join(', ')}`);
  } else if (task.output) {
    const problem = await outputProblem(task.output, ending.output ?? null);
    if (problem)
      return notEnough(ending, 'output', `its output does not fit: ${problem}${howToGive(attempt, ending)}`);
  }
  // What goes back to another agent need not be good enough yet.
  if (attempt.mayReject && rejectIn(ending.output ?? null, task)) return ending;
  for (const { text, command } of attempt.checks) {
    const check = await runCheck(around, job, workspace, command);
    if (check.outcome.kind === 'cancelled' || check.outcome.kind === 'lost')
      return { ...ending, outcome: check.outcome };
    if (check.outcome.kind === 'failed') {
      const message = `the check \`${text}\` failed: ${check.outcome.message}`;
      return notEnough(ending, 'check', message, `${check.stdoutTail}${check.stderrTail}`.trim());
    }
  }
  const score = start.purpose === 'work' ? scoreCommand(task) : undefined;
  if (score !== undefined) return await giveScore(around, job, workspace, score, ending);
  if (task.expand && start.purpose === 'work') {
    const { agent } = attempt;
    const planner = {
      scope: effectiveScope(task, agent),
      limits: effectiveLimits(task, agent),
      budget: agent?.budget,
      globsOfPeople: attempt.globsOfPeople,
    };
    const expansion = await checkExpansionApart(ending.output ?? null, workflow, planner, start.task);
    if ('problem' in expansion) return notEnough(ending, 'expand', expansion.problem);
    return { ...ending, expansion: expansion.tasks };
  }
  return ending;
}

/** What a candidate of a race is worth: the last number that the judge's check prints. */
async function giveScore(
  around: Surroundings,
  job: Job,
  workspace: Workspace | undefined,
  command: string,
  ending: Ending,
): Promise<Ending> {
  const check = await runCheck(around, job, workspace, command);
  if (check.outcome.kind === 'cancelled' || check.outcome.kind === 'lost')
    return { ...ending, outcome: check.outcome };
  const printed = `${check.stdoutTail}${check.stderrTail}`.trim();
  if (check.outcome.kind === 'failed')
    return notEnough(ending, 'check', `the judge's check failed: ${check.outcome.message}`, printed);
  const score = lastNumber(check.stdoutTail);
  if (score === undefined)
    return notEnough(ending, 'check', "the judge's check printed no number, so it has no score", printed);
  return { ...ending, score };
}

/** Runs on a throw-away layer: what a check writes is nobody's work. */
async function runCheck(
  around: Surroundings,
  job: Job,
  workspace: Workspace | undefined,
  command: string,
): Promise<CommandEnd> {
  const launch: Job['launch'] = (what) => around.launchCheck(workspace, what);
  const argv = ['/bin/sh', '-c', command];
  return runCommand({ ...job, argv, input: '', streams: ['check', 'check'], launch });
}

/** A program that is no model does not know by itself. */
function howToGive({ agent }: Attempt, { output = null }: Ending): string {
  const isText = output === null || typeof output === 'string';
  if ((agent && agent.runtime !== 'cli') || !isText) return '';
  const how = 'to the file that $BOSUN_OUTPUT names, with bosun agent done, or as all that it prints';
  return `; ${agent ? 'the agent' : 'the command'} gives it as JSON: ${how}`;
}

/** What failed, and the same as words for the agent, should it get another attempt. */
function notEnough(ending: Ending, reason: FailReason, message: string, details = ''): Ending {
  const output = details ? `\n\nIts output:\n${details}` : '';
  const feedback = `Your last attempt was not enough: ${message}.${tellOutside(ending.collected?.outside)}${output}`;
  return { ...ending, outcome: { kind: 'failed', reason, message }, feedback };
}

async function filesWithMarkers(git: EngineGit, commit: string, files: string[]): Promise<string[]> {
  const paths = files.map((file) => `:(literal)${file}`);
  const patterns = ['-e', '^<<<<<<< ', '-e', '^>>>>>>> '];
  const found = await git.run(['grep', '-l', '-z', ...patterns, commit, '--', ...paths], { codes: [0, 1] });
  const lines = found.stdout.toString().split('\0').filter(Boolean);
  return lines.map((line) => line.slice(commit.length + 1));
}
