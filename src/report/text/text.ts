/** The report as a person reads it in a terminal: short, aligned, what went wrong first. Never lets an agent's bytes through. */
import { formatCount } from '../../base/format-count.ts';
import type { Json } from '../../contract/workflow.ts';
import type { RunReport, TaskReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { describeCost, shortCost } from '../cost-words.ts';
import { columnsOf, fitColumns, padColumns, wrapColumns } from './columns.ts';
import { plainLine, spellControls, inOneLine } from './plain.ts';
import { costs, fallbacks } from './cost.ts';
import { describeUnread } from '../message-words.ts';
import { messageLine } from './message-line.ts';
import { producedLines } from '../lines/produced-lines.ts';
import {
  outsideCountOf,
  sinceWork,
  changedCountOf,
  committedIn,
  count,
  countStates,
  describeAccess,
  describeDenied,
  describeService,
  failuresOf,
  glyphOf,
  headline,
  more,
  reasonOf,
  shortCommit,
  toneOf,
  attemptsMs,
  type Tone,
  labeller,
} from '../words.ts';

const SHOWN = {
  failures: 3,
  logLines: 3,
  tasks: 20,
  busy: 4,
  questions: 3,
  producedLines: 24,
  conflicts: 3,
  files: 6,
  outputs: 10,
  answers: 3,
  answerLines: 12,
  outside: 3,
  refused: 3,
  access: 6,
  messages: 6,
  services: 6,
  denied: 6,
  notes: 3,
};

const COLORS: Record<Tone | 'strong' | 'command', string> = {
  good: '32',
  bad: '31',
  busy: '36',
  ask: '33',
  quiet: '2',
  strong: '1',
  command: '1;36',
};

/** Whose message stands beside it; why something failed has a part of its own. */
const TOLD: ReadonlySet<TaskReport['state']> = new Set(['skipped', 'ready', 'done', 'cancelled']);

interface TextOptions {
  color: boolean;
  width: number;
  /** Where the answer itself is printed beside the report. */
  withoutAnswers?: boolean;
}

type Paint = (tone: keyof typeof COLORS, text: string) => string;

export function renderTextReport(report: RunReport, options: TextOptions): string {
  const paint: Paint = (tone, text) =>
    options.color && text !== '' ? `\u001b[${COLORS[tone]}m${text}\u001b[0m` : text;
  const width = Math.max(40, options.width);
  const sections = [
    head(report, paint, width),
    failures(report, paint, width),
    questions(report, width),
    tasks(report, paint, width),
    fallbacks(report, width),
    outputs(report, width),
    ...(options.withoutAnswers ? [] : [answers(report, paint, width)]),
    conflicts(report, paint, width),
    files(report, paint, width),
    outside(report, width),
    access(report, paint, width),
    messages(report, paint, width),
    served(report, width),
    denied(report, width),
    refused(report, width),
    costs(report, width),
    notes(report, width),
    next(report, paint, width),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function head(report: RunReport, paint: Paint, width: number): string[] {
  const { run, totals } = report;
  const tone = toneOf(run.state);
  const states = countStates(totals.byState).map(({ state, count }) => `${formatCount(count)} ${state}`);
  const { linesAdded, linesRemoved } = totals;
  const lines = linesAdded === null ? [] : [`+${formatCount(linesAdded)} -${formatCount(linesRemoved!)}`];
  const sum = [
    `${count(totals.tasks, 'task')}: ${states.join(', ')}`,
    count(totals.attempts, 'attempt'),
    [`${count(totals.changedFiles, 'file')} changed`, ...lines].join(', '),
  ];
  if (totals.cost.tokens !== null) sum.push(describeCost(totals.cost));
  const by = `from ${spellControls(run.source)}`;
  const place =
    run.headCommit === run.baseCommit
      ? `branch ${run.branch}: no commits (base ${shortCommit(run.baseCommit)}, ${by})`
      : `branch ${run.branch} at ${shortCommit(run.headCommit)} (base ${shortCommit(run.baseCommit)}, ${by})`;
  return [
    `${paint(tone, glyphOf(run.state))} ${paint('strong', spellControls(run.id))} ${paint(tone, headline(report))}`,
    ...wrapColumns(sum.join(' · '), width - 2, ' · ').map((line) => `  ${line}`),
    `  ${paint('quiet', fitColumns(place, width - 2))}`,
    ...(run.hash === null ? [] : [`  ${paint('quiet', `journal ${run.hash.slice(0, 16)}`)}`]),
    ...(run.dirty ? [`  ${paint('quiet', 'started from uncommitted changes')}`] : []),
  ];
}

function failures(report: RunReport, paint: Paint, width: number): string[] {
  const failed = failuresOf(report);
  if (failed.length === 0) return [];
  const lines = failed.slice(0, SHOWN.failures).flatMap((task) => {
    const name = `${glyphOf('failed')} ${spellControls(task.label)}`;
    const why = fitColumns(inOneLine(reasonOf(task)), width - columnsOf(name) - 4);
    const last = task.attempts.at(-1)?.n;
    const log = task.log.lines.filter(({ attempt, text }) => attempt === last && text.trim() !== '');
    return [
      `  ${paint('bad', name)}  ${why}`,
      ...log
        .slice(-SHOWN.logLines)
        .map(({ text }) => `    ${paint('quiet', '│')} ${fitColumns(plainLine(text), width - 6)}`),
    ];
  });
  return ['Failed', ...lines, ...more(failed.length, SHOWN.failures)];
}

function openQuestions({ questions, run }: RunReport): RunReport['questions'] {
  return run.endedAtMs === null ? questions.filter(({ answeredAtMs }) => answeredAtMs === null) : [];
}

function questions(report: RunReport, width: number): string[] {
  const { run } = report;
  const labelOf = labeller(report);
  const open = openQuestions(report);
  if (open.length === 0) return [];
  const lines = open.slice(0, SHOWN.questions).flatMap((question) => {
    const { task, text, choices } = question;
    const list = choices.map((label, n) => `  [${n + 1}] ${label}`).join('');
    return [
      fitColumns(`  ? ${spellControls(labelOf(task))}  ${plainLine(text + list)}`, width),
      ...producedLines(question, SHOWN.producedLines, run.id).map((line) => fitColumns(`    ${line}`, width)),
    ];
  });
  return ['Waiting for an answer', ...lines, ...more(open.length, SHOWN.questions)];
}

function tasks(report: RunReport, paint: Paint, width: number): string[] {
  const isLong = report.tasks.length > SHOWN.tasks;
  const busy = report.tasks.filter(({ state, group, message }) =>
    toneOf(state) === 'busy' ? group === null : state === 'ready' && message !== null,
  );
  const shown = isLong ? busy.slice(0, SHOWN.busy) : report.tasks;
  if (shown.length === 0) return [];
  const hasCost = shown.some(({ cost }) => cost.requests > 0);
  const rows = shown.map((task) => ({ task, cells: cellsOf(task, isLong, hasCost) }));
  const widths = rows[0]!.cells.map((_, at) =>
    Math.min(at === 1 ? 40 : 24, Math.max(...rows.map(({ cells }) => columnsOf(cells[at]!)))),
  );
  const lines = rows.map(({ task, cells }) => {
    const [state, ...rest] = cells.map((cell, at) => padColumns(fitColumns(cell, widths[at]!), widths[at]!));
    const used = widths.reduce((sum, columns) => sum + columns + 2, 0);
    const why = TOLD.has(task.state)
      ? fitColumns(inOneLine(task.message ?? ''), Math.max(8, width - used - 2))
      : '';
    const line = `  ${paint(toneOf(task.state), state!)}  ${rest.join('  ')}`;
    return why === '' ? line : `${line}  ${paint('quiet', why)}`;
  });
  return isLong
    ? [
        report.run.state === 'interrupted' ? 'Interrupted' : 'Running',
        ...lines,
        ...more(busy.length, SHOWN.busy),
      ]
    : ['Tasks', ...lines];
}

function cellsOf(task: TaskReport, isFlat: boolean, hasCost: boolean): string[] {
  const depth = isFlat ? 0 : task.id.split(/\/|\.(?=\d+$)/).length - 1;
  const files = changedCountOf(task);
  const ms = attemptsMs(task);
  return [
    `${glyphOf(task.state)} ${task.state}`,
    '  '.repeat(depth) + spellControls(task.label),
    plainLine(task.group ?? task.agent ?? ''),
    [
      task.attempts.length > 1 ? count(task.attempts.length, 'attempt') : '',
      files > 0 ? count(files, 'file') : '',
    ]
      .filter(Boolean)
      .join(', '),
    ms === null ? '' : formatDuration(ms),
    ...(hasCost ? [shortCost(task.cost)] : []),
  ];
}

/** A group whose tasks gave nothing, or only words, has nothing to show either. */
function isStructured(output: Json): boolean {
  if (Array.isArray(output)) return output.some(isStructured);
  return output !== null && typeof output !== 'string';
}

/** What tasks gave that is more than words: text is what people have seen already. */
function outputs({ tasks }: RunReport, width: number): string[] {
  const given = tasks.filter(({ output }) => isStructured(output));
  if (given.length === 0) return [];
  const lines = given.slice(0, SHOWN.outputs).map(({ label, output }) => {
    const name = `  ${spellControls(label)}  `;
    return `${name}${fitColumns(plainLine(JSON.stringify(output)), Math.max(20, width - columnsOf(name)))}`;
  });
  return ['Outputs', ...lines, ...more(given.length, SHOWN.outputs)];
}

/** What agents said that is in no file: first those whose words no other task takes. */
function answers(report: RunReport, paint: Paint, width: number): string[] {
  const isShownAbove = new Set(
    openQuestions(report).flatMap(({ produced }) => produced.map(({ task }) => task)),
  );
  const said = report.tasks.flatMap((task) => {
    const { output } = task;
    return typeof output === 'string' &&
      output.trim() !== '' &&
      hasOnlyWords(task) &&
      !isShownAbove.has(task.id)
      ? [{ task, output }]
      : [];
  });
  said.sort((a, b) => Number(isLast(report, b.task)) - Number(isLast(report, a.task)));
  if (said.length === 0) return [];
  const lines = said.slice(0, SHOWN.answers).flatMap(({ task, output }) => {
    const all = output
      .trim()
      .split(/\r?\n/)
      .flatMap((line) => wrapColumns(plainLine(line), width - 6, ' '));
    const shown = all.slice(0, all.length > SHOWN.answerLines ? SHOWN.answerLines - 1 : SHOWN.answerLines);
    const left = all.length - shown.length;
    return [
      `  ${spellControls(task.label)}`,
      ...shown.map((line) => `    ${paint('quiet', '│')} ${line}`),
      ...(left > 0
        ? [`    … ${count(left, 'line')} more: bosun logs ${report.run.id} --task ${task.id}`]
        : []),
    ];
  });
  return ['Answers', ...lines, ...more(said.length, SHOWN.answers)];
}

function hasOnlyWords(task: TaskReport): boolean {
  return task.agent !== null && task.state === 'done' && changedCountOf(task) === 0 && !task.isPast;
}

function isLast({ tasks }: RunReport, task: TaskReport): boolean {
  const within = new Set([task.id, task.parent].filter((id) => id !== null));
  return !tasks.some(({ needs }) => needs.some((id) => within.has(id)));
}

function conflicts(report: RunReport, paint: Paint, width: number): string[] {
  const { conflicts } = report;
  const labelOf = labeller(report);
  if (conflicts.length === 0) return [];
  const lines = conflicts.slice(0, SHOWN.conflicts).map(({ task, files, with: others, resolved }) => {
    const names =
      files.slice(0, 3).map(spellControls).join(', ') +
      (files.length > 3 ? ` and ${files.length - 3} more` : '');
    const whose =
      others.length === 0
        ? ''
        : ` with ${others
            .slice(0, 3)
            .map((other) => spellControls(labelOf(other)))
            .join(', ')}`;
    const end = resolved === null ? '' : `, settled by ${spellControls(resolved)}`;
    const glyph = resolved === null ? paint('bad', glyphOf('failed')) : paint('good', glyphOf('done'));
    return `  ${glyph} ${fitColumns(`${spellControls(labelOf(task))}${whose} in ${names}${end}`, width - 4)}`;
  });
  return ['Conflicts', ...lines, ...more(conflicts.length, SHOWN.conflicts)];
}

function files(report: RunReport, paint: Paint, width: number): string[] {
  const changed = changedFiles(report);
  if (changed.length === 0) return [];
  const shown = changed.slice(0, SHOWN.files);
  const nameWidth = Math.min(width - 24, Math.max(...shown.map(({ path }) => columnsOf(path))));
  const signs = { added: paint('good', 'A'), modified: paint('ask', 'M'), deleted: paint('bad', 'D') };
  const lines = shown.map(
    ({ path, change, by }) =>
      `  ${signs[change]} ${padColumns(fitColumns(path, nameWidth), nameWidth)}  ${paint('quiet', fitColumns(by.join(', '), 20))}`,
  );
  return ['Changed on the branch', ...lines, ...more(report.totals.changedFiles, SHOWN.files)];
}

function changedFiles(
  report: RunReport,
): { path: string; change: 'added' | 'modified' | 'deleted'; by: string[] }[] {
  const files = new Map<string, { path: string; change: 'added' | 'modified' | 'deleted'; by: string[] }>();
  for (const { task, worker } of committedIn(report.tasks)) {
    const last = worker.attempts.findLast(({ snapshot }) => snapshot !== null);
    for (const { path, change } of last?.changed ?? []) {
      const known = files.get(path);
      if (known) known.by.push(spellControls(task.label));
      else files.set(path, { path: spellControls(path), change, by: [spellControls(task.label)] });
    }
  }
  return [...files.values()];
}

/** What a task changed although its scope did not allow it: it is not on the branch. */
function outside({ tasks }: RunReport, width: number): string[] {
  const all = tasks.flatMap((task) =>
    sinceWork(task.attempts).flatMap((attempt) => attempt.outside.map((what) => `${task.label}  ${what}`)),
  );
  if (all.length === 0) return [];
  const total = tasks.reduce((sum, { attempts }) => sum + outsideCountOf(attempts), 0);
  const lines = all.slice(0, SHOWN.outside).map((line) => `  ${fitColumns(plainLine(line), width - 2)}`);
  return ['Left out, not allowed by the scope', ...lines, ...more(total, SHOWN.outside)];
}

/** What agents asked for beyond their scopes, and what they were told. */
function access({ tasks }: RunReport, paint: Paint, width: number): string[] {
  const all = tasks.flatMap(({ label, access }) => access.map((asked) => ({ label, asked })));
  if (all.length === 0) return [];
  const good = paint('good', '✓');
  const signs = { yes: good, applied: good, no: paint('ask', '✗') };
  const lines = all.slice(0, SHOWN.access).map(({ label, asked }) => {
    const sign = asked.answer === null ? '?' : signs[asked.answer];
    return `  ${sign} ${fitColumns(`${spellControls(label)}  ${plainLine(describeAccess(asked))}`, width - 4)}`;
  });
  return ['Access', ...lines, ...more(all.length, SHOWN.access)];
}

/** What agents said to each other; what nobody read may be why something is missing. */
function messages(report: RunReport, paint: Paint, width: number): string[] {
  const { messages: all, messagesLeftOut, run } = report;
  if (all.length === 0) return [];
  const labelOf = labeller(report);
  const unread = describeUnread(all, labelOf);
  return [
    'Messages',
    ...(unread === undefined ? [] : [`  ${paint('ask', fitColumns(plainLine(unread), width - 2))}`]),
    ...all
      .slice(0, SHOWN.messages)
      .map((message) => `  ${fitColumns(messageLine(message, run.startedAtMs, labelOf), width - 2)}`),
    ...more(all.length + messagesLeftOut, SHOWN.messages),
  ];
}

/** Connections that no scope allowed: often why something failed. */
function served({ tasks }: RunReport, width: number): string[] {
  const all = tasks.flatMap(({ label, services = [] }) =>
    services.map((each) => `${label}  ${describeService(each)}`),
  );
  if (all.length === 0) return [];
  const lines = all.slice(0, SHOWN.services).map((line) => `  ${fitColumns(plainLine(line), width - 2)}`);
  return ['Services', ...lines, ...more(all.length, SHOWN.services)];
}

function denied({ tasks }: RunReport, width: number): string[] {
  const all = tasks.flatMap(({ label, denied }) => denied.map((each) => `${label}  ${describeDenied(each)}`));
  if (all.length === 0) return [];
  const total = tasks.reduce((sum, { deniedLeftOut }) => sum + deniedLeftOut, all.length);
  const lines = all.slice(0, SHOWN.denied).map((line) => `  ${fitColumns(plainLine(line), width - 2)}`);
  return ['Denied connections', ...lines, ...more(total, SHOWN.denied)];
}

/** What an attempt left that no commit can hold: it must not be missed only because it is not there. */
function refused({ tasks }: RunReport, width: number): string[] {
  const all = tasks.flatMap((task) =>
    sinceWork(task.attempts).flatMap((attempt) => attempt.refused.map((what) => `${task.label}  ${what}`)),
  );
  if (all.length === 0) return [];
  const lines = all.slice(0, SHOWN.refused).map((line) => `  ${fitColumns(plainLine(line), width - 2)}`);
  return ['Not collected', ...lines, ...more(all.length, SHOWN.refused)];
}

function notes({ isolation }: RunReport, width: number): string[] {
  if (isolation.length === 0) return [];
  const lines = isolation
    .slice(0, SHOWN.notes)
    .flatMap((note) =>
      wrapColumns(plainLine(note), width - 4, ' ').map((line, n) => `  ${n === 0 ? '' : '  '}${line}`),
    );
  return ['Isolation', ...lines, ...more(isolation.length, SHOWN.notes)];
}

function next({ next }: RunReport, paint: Paint, width: number): string[] {
  if (next.length === 0) return [];
  const columns = Math.max(...next.map(({ command }) => columnsOf(spellControls(command))));
  const lines = next.map(({ command, why }) => {
    const typed = padColumns(spellControls(command), columns);
    return `  ${paint('command', typed)}  ${fitColumns(plainLine(why), Math.max(10, width - columns - 4))}`;
  });
  return ['Next', ...lines];
}
