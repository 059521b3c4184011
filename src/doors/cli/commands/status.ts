/** `bosun status`: the one command that must be quick; it loads nothing that it does not show. */
import { formatDuration } from '../../../base/units.ts';
import { isOpen, type TaskView } from '../../../contract/run.ts';
import type { ShownRun, Status } from '../../../contract/outputs.ts';
import { describeOverrun, describeStop, sentence } from '../../../schedule/money/budget-words.ts';
import { forProvider, raiseCommand, tellSpending, tellUsd } from '../../../report/money.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { plainLine, spellControls, safeJson, inOneLine } from '../../../report/text/plain.ts';
import { count, glyphOf, toneOf } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { askedLines } from '../../../report/text/asked-lines.ts';
import { isOn, type Typed } from '../command.ts';
import { formatCount } from '../../../base/format-count.ts';
import { tellCounts, tellPause } from '../../../report/text/figures.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut, type Paint } from '../output.ts';
import { signOf, workLine, type ShownBy } from '../live/task-sign.ts';

const TASKS_SHOWN_MAX = 40;
const TASKS_JSON_MAX = 1000;
const NAME_COLUMNS_MAX = 40;

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'messages')) {
    const { tellMessages } = await import('./status-messages.ts'); // most do not ask for it
    return await tellMessages(typed);
  }
  let queued: ShownRun[] = [];
  if (typed.args.length === 0) {
    const runs = await ask('atWork', { queued: true });
    queued = runs.filter(({ state }) => state === 'pending');
    const isOne = runs.length === 1 || runs.length - queued.length === 1;
    if (runs.length > 0 && !isOne) return tellAll(runs, isOn(typed, 'json'));
  }
  const limit = isOn(typed, 'json') ? TASKS_JSON_MAX : TASKS_SHOWN_MAX;
  const status = await ask('status', inputOf('status', typed, { limit }));
  if (status.recovered !== undefined) writeError(`note: ${status.recovered}\n`);
  writeOut(isOn(typed, 'json') ? `${safeJson(status)}\n` : renderStatus(status, Date.now()));
  const others = queued.filter(({ id }) => id !== status.run.id);
  if (others.length > 0) writeError(`${queuedWords(others)}; see: bosun history\n`);
  return 0;
}

/** Several at once: a line or two each, and how to see more of one. */
function tellAll(runs: ShownRun[], asJson: boolean): number {
  if (asJson) {
    for (const each of runs) writeOut(`${safeJson(each)}\n`);
    return 0;
  }
  const paint = painter(hasColor(process.stdout));
  const nowMs = Date.now();
  for (const run of runs) {
    const all = Object.values(run.counts).reduce((sum, each) => sum + each, 0);
    const taskCount = all - (run.askingGroups ?? 0);
    const status: Status = { run, tasks: [], taskCount };
    const lines = [
      ...headOf(status, paint, nowMs),
      ...waitsOf(status, paint, nowMs),
      ...asked(status, nowMs),
      ...pausedOf(run, nowMs),
    ];
    writeOut(lines.map((line) => `${line}\n`).join(''));
  }
  const queued = runs.filter(({ state }) => state === 'pending');
  const atWork = runs.length - queued.length;
  const all = [
    ...(atWork > 0 ? [`${count(atWork, 'run')} at work`] : []),
    ...(queued.length > 0 ? [`${queuedWords(queued)} (start with: bosun work)`] : []),
  ];
  writeOut(`\n  ${all.join(', ')}; look at one with: bosun status RUN, bosun attach RUN\n`);
  return 0;
}

function queuedWords({ length }: readonly ShownRun[]): string {
  return `${count(length, 'run')} ${length === 1 ? 'waits' : 'wait'} in the queue`;
}

export function renderStatus(status: Status, nowMs: number): string {
  const paint = painter(hasColor(process.stdout));
  const columns = columnsOfStream(process.stdout);
  const lines = [
    ...headOf(status, paint, nowMs),
    ...waitsOf(status, paint, nowMs),
    ...tasksOf(status, paint, columns, nowMs),
    ...nextOf(status, nowMs),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headOf({ run, taskCount }: Status, paint: Paint, nowMs: number): string[] {
  const tone = toneOf(run.state);
  const sinceMs = run.createdAtMs + (run.idleMs ?? 0);
  const untilMs = run.paused?.idleSinceMs ?? nowMs;
  const took =
    run.endedAtMs !== undefined
      ? ` in ${formatDuration(run.endedAtMs - sinceMs)}`
      : isOpen(run)
        ? ` ${run.state === 'paused' ? 'after' : 'for'} ${formatDuration(untilMs - sinceMs)}`
        : '';
  const noun = taskCount === 1 ? 'task' : 'tasks';
  const cost = costOf(run);
  return [
    `${paint(tone, glyphOf(run.state))} ${paint('strong', run.id)} ${paint(tone, isSpent(run) ? `stopped: ${describeStop(run.short)},` : run.state)}${took}`,
    `  ${formatCount(taskCount)} ${noun}: ${tellCounts(run.counts)}${cost && ` · ${cost}`}${run.about === undefined ? '' : ` · ${paint('quiet', plainLine(run.about))}`}`,
    ...(run.overruns ?? [])
      .slice(-1)
      .map((last) => `  ${paint('ask', `! ${sentence(describeOverrun(last))}`)}`),
  ];
}

/** Providers that all agents have to wait for. */
function waitsOf({ run }: Status, paint: Paint, nowMs: number): string[] {
  const waits = (run.waits ?? []).filter(({ untilMs }) => untilMs > nowMs && run.state === 'running');
  return waits.map((wait) => {
    const left = formatDuration(wait.untilMs - nowMs);
    return `  ${paint('ask', plainLine(`⏸ waits ${left}${forProvider(wait)}`))}`;
  });
}

function costOf({ spending, limits }: Status['run']): string {
  const unknown = spending && spending.unpriced > 0 ? ' · some prices are unknown' : '';
  return `${tellSpending(spending, limits)}${unknown}`;
}

/** Where its work is; nothing of one that is at work, or that changed nothing. */
function mergedOf({ id, state, landed, headCommit, baseCommit }: Status['run'], nowMs: number): string[] {
  if (headCommit === baseCommit || isOpen({ state }) || state === 'interrupted') return [];
  if (!landed) return [`  not merged with bosun: bosun merge ${id}`];
  const where = plainLine(landed.branch ?? 'a detached HEAD');
  const when = `${plainLine(`by ${landed.by}`)}, ${formatDuration(Math.max(0, nowMs - landed.atMs))} ago`;
  return landed.head === headCommit
    ? [`  merged into ${where} ${when}`]
    : [`  merged in part into ${where} ${when}; the rest: bosun merge ${id}`];
}

/** It was stopped since there is nothing left to spend. */
function isSpent({ state, because }: Status['run']): boolean {
  return state === 'cancelled' && because === 'budget';
}

function tasksOf({ run, tasks, taskCount }: Status, paint: Paint, columns: number, nowMs: number): string[] {
  if (tasks.length === 0) return [];
  const names = tasks.map((task) => `${'  '.repeat(depthOf(task))}${spellControls(task.label ?? task.id)}`);
  const nameWidth = Math.min(NAME_COLUMNS_MAX, Math.max(...names.map(columnsOf)));
  const agentWidth = Math.max(...tasks.map(({ agent }) => agent?.length ?? 0));
  const costs = tasks.map(({ spending }) => (spending ? tellUsd(spending) || '$?' : ''));
  const costWidth = Math.max(...costs.map(columnsOf));
  const lines = tasks.map((task, n) => {
    const { agent = '', attempt } = task;
    const { glyph, word, tone, line } = signOf(task, shownBy(run), nowMs);
    const cells = [
      padColumns(fitColumns(names[n]!, nameWidth), nameWidth),
      ...(agentWidth > 0 ? [agent.padEnd(agentWidth)] : []),
      timeOf(task, run.state === 'interrupted' ? undefined : nowMs).padStart(6),
      ...(costWidth > 0 ? [costs[n]!.padStart(costWidth)] : []),
      ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ];
    const used = cells.join('  ').length + 15;
    const words = [
      outsideOf(task),
      servedBy(task),
      line ?? task.message ?? workLine(task.progress, task.lastLine),
    ]
      .filter(Boolean)
      .join('; ');
    const said = fitColumns(inOneLine(words), Math.max(10, columns - used - 2));
    return `  ${paint(tone, `${glyph} ${word.padEnd(9)}`)}  ${cells.join('  ')}  ${paint('quiet', said)}`.trimEnd();
  });
  const left = taskCount - tasks.length;
  return ['', ...lines, ...(left > 0 ? [`  … and ${formatCount(left)} more`] : [])];
}

function shownBy({ waits = [], paused, state }: Status['run']): ShownBy {
  return { waits, ...(paused && state === 'paused' && { paused }) };
}

function outsideOf({ outsideCount = 0 }: TaskView): string {
  return outsideCount === 0 ? '' : `${count(outsideCount, 'file')} outside its scope left out`;
}

function servedBy({ services = [] }: TaskView): string {
  return services.length === 0 ? '' : `serves ${services.map(({ name }) => name).join(', ')}`;
}

function depthOf({ id, parent }: TaskView): number {
  return parent === undefined ? 0 : id.split(/\/|\.(?=\d+$)/).length - 1;
}

/** As the report has it: what its attempts took, else how long it was open. `nowMs` is absent where nobody works. */
function timeOf(
  { startedAtMs, endedAtMs, workedMs, attemptAtMs, held, state }: TaskView,
  nowMs: number | undefined,
): string {
  if (startedAtMs === undefined) return '';
  if (attemptAtMs !== undefined && nowMs !== undefined)
    return formatDuration((workedMs ?? 0) + (held?.by === 'pause' ? held.sinceMs : nowMs) - attemptAtMs);
  if (workedMs !== undefined) return formatDuration(workedMs);
  if (endedAtMs !== undefined) return formatDuration(endedAtMs - startedAtMs);
  if (nowMs === undefined) return '';
  return state === 'running' || state === 'merging' || state === 'asking'
    ? formatDuration(nowMs - startedAtMs)
    : '';
}

function asked({ run }: Pick<Status, 'run'>, nowMs: number): string[] {
  return isOpen(run) ? askedLines(run, nowMs) : [];
}

function pausedOf({ id, state, paused }: Status['run'], nowMs: number): string[] {
  if (!paused || state !== 'paused') return [];
  return [`  paused ${plainLine(tellPause(paused, nowMs))}; continue with: bosun resume ${id}`];
}

function nextOf({ run }: Status, nowMs: number): string[] {
  const answers = asked({ run }, nowMs);
  answers.push(...pausedOf(run, nowMs));
  if (run.state === 'pending') answers.push(`  is queued; start it with: bosun work`);
  if (run.state === 'interrupted')
    answers.push(`  its bosun process is gone; continue with: bosun resume ${run.id}`);
  answers.push(...mergedOf(run, nowMs));
  if (isSpent(run)) {
    const raise = raiseCommand(run.id, run.spending, run.limits, run.short);
    answers.push(`  all work is kept; continue with: ${raise} && bosun resume ${run.id}`);
  }
  return answers.length > 0 ? ['', ...answers] : [];
}
