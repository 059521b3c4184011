/** Says what a person would type now. Knows the commands' names, never what they do. */
import type { NextCommand, QuestionReport, RunReport } from '../contract/report.ts';
import { LEFT_OUT } from '../contract/run.ts';
import { raiseCommand } from './money.ts';
import { changedCountOf, failuresOf, labeller, mootIn, outsideCountOf } from './words.ts';

const RETRIES_MAX = 3;
const ANSWERS_MAX = 3;

export function nextCommands(report: Omit<RunReport, 'next'>): NextCommand[] {
  const { run, questions, tasks } = report;
  const labelOf = labeller(report);
  // A shell would read the brackets of a label: commands have the id.
  const named = (id: string): string => (labelOf(id) === id ? '' : `${labelOf(id)}: `);
  const isOver = run.state === 'done' || run.state === 'failed' || run.state === 'cancelled';
  const next: NextCommand[] = [];
  if (run.state === 'paused') {
    next.push({ command: `bosun resume ${run.id}`, why: `continue; ${run.paused!.by} paused it` });
  }
  if (run.state === 'interrupted') {
    next.push({
      command: `bosun resume ${run.id}`,
      why: 'go on where it stopped; what is done is not run again',
    });
  }
  if (run.state === 'pending') {
    next.push({ command: 'bosun work', why: 'drive what waits in the queue' });
    next.push({ command: `bosun cancel ${run.id}`, why: 'take it out of the queue' });
  }
  if (run.state === 'cancelled' && run.because === 'budget') {
    next.push({ command: raiseOf(report), why: 'raise its budget' });
    next.push({ command: `bosun resume ${run.id}`, why: 'then go on; all work is kept' });
  } else if (run.state === 'cancelled') {
    const again = failuresOf(report).length > 0 ? ', and try again what failed' : '';
    const first = failuresOf(report).some(isRejected) ? 'once the key is valid: ' : '';
    const why = `${first}go on with what was cancelled${again}`;
    next.push({ command: `bosun resume ${run.id}`, why });
  }
  if (!isOver) {
    for (const question of questions
      .filter(({ answeredAtMs }) => answeredAtMs === null)
      .slice(0, ANSWERS_MAX)) {
      next.push(answerCommand(question, labelOf(question.task)));
    }
  }
  if (run.state === 'running') next.push({ command: 'bosun logs -f', why: 'watch what the agents print' });
  if (!isOver) return next;

  const failed = failuresOf(report);
  const isResumed = next.some(({ command }) => command === `bosun resume ${run.id}`);
  if (failed.some(isRejected) && !isResumed)
    next.push({
      command: `bosun resume ${run.id}`,
      why: 'once the key is valid: tries all that failed again',
    });
  const retriable = failed.filter((each) => !isRejected(each) && each.isPast !== true);
  for (const task of retriable.slice(0, RETRIES_MAX)) {
    next.push({
      command: `bosun retry ${task.id}`,
      why: `${named(task.id)}${whyRetry(report, task.id, task.reason)}`,
    });
  }
  // A retry takes what needs the task, and nothing else that was left out when it failed.
  const isLeftOut = tasks.some(({ state, message }) => state === 'skipped' && message === LEFT_OUT);
  if (isLeftOut && !failed.some(isRejected) && !isResumed)
    next.push({ command: `bosun resume ${run.id}`, why: 'try all that failed again, and what was left out' });
  const isMoot = mootIn(tasks);
  const worked = tasks.find((task) => hasKept(task) && !isMoot(task) && changedCountOf(task) > 0);
  if (worked)
    next.push({
      command: `bosun diff ${run.id} --task ${worked.id}`,
      why: 'see what it left; it is not merged',
    });
  const limited = tasks.find(({ attempts }) => outsideCountOf(attempts) > 0);
  if (limited) {
    const command = `bosun diff ${run.id} --task ${limited.id} --outside`;
    next.push({ command, why: 'see what its scope did not allow; it is left out' });
  }
  if (run.headCommit !== run.baseCommit) {
    const part = failed.length > 0 || run.state === 'cancelled' ? ' of the tasks that are done' : '';
    next.push({ command: `bosun diff ${run.id}`, why: `see the changes${part}` });
    next.push({ command: `bosun merge ${run.id}`, why: `put them on your branch` });
  } else if (failed.length === 0 && !worked) {
    next.push({ command: `bosun logs ${run.id}`, why: 'nothing was changed; read what was printed' });
  }
  return next;
}

/** One key for all of them: they are tried again together. */
function isRejected({ attempts }: RunReport['tasks'][number]): boolean {
  return attempts.at(-1)?.error?.kind === 'auth';
}

/** Its work is kept and on no branch. */
function hasKept({ state, reason }: RunReport['tasks'][number]): boolean {
  return state === 'cancelled' || (state === 'failed' && reason !== 'tasks');
}

function raiseOf({ run, totals, budgets }: Omit<RunReport, 'next'>): string {
  const { usdKnown: usd, tokensByKind: tokens, requests, unpriced, estimated } = totals.cost;
  const limits = budgets.find(({ account }) => account === 'run')?.limits ?? [];
  return raiseCommand(
    run.id,
    { usd, tokens, requests, unpriced, estimated },
    Object.fromEntries(limits.map(({ unit, limit }) => [unit, limit])),
    run.short,
  );
}

function whyRetry(report: Omit<RunReport, 'next'>, id: string, reason: string | null): string {
  if (reason !== 'conflict') return 'try again, then whatever needs it';
  const others = report.conflicts.findLast(({ task }) => task === id)?.with ?? [];
  const on = others.length === 1 ? `what ${labeller(report)(others[0]!)} did` : 'what the others did';
  return `try again on top of ${on}`;
}

/** A choice by its number: its words could mean anything to a shell. */
function answerCommand({ id, choices, freeText }: QuestionReport, asker: string): NextCommand {
  const label = id.endsWith('+budget') ? 'the budget' : asker;
  if (choices.length > 0)
    return {
      command: `bosun answer ${id} 1`,
      why: `${label} waits for it; or another of its ${choices.length} choices`,
    };
  return freeText
    ? { command: `bosun answer ${id} "your answer"`, why: `${label} waits for it` }
    : { command: `bosun answer ${id} yes`, why: `${label} waits for it; or no` };
}
