/** One picture of a live run as lines of text, fitted to a terminal. Pure; what it gives is safe to print. */
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { plainLine, spellControls, inOneLine } from '../../../report/text/plain.ts';
import { shareUsed, tellSpending, tellUsd, tellWaiting } from '../../../report/money.ts';
import { glyphOf, toneOf } from '../../../report/words.ts';
import { formatCount } from '../../../base/format-count.ts';
import { formatElapsed, tellCounts } from '../../../report/text/figures.ts';
import type { LiveModel, LiveRow, LiveRows } from './model.ts';
import { answeredLines, questionLines } from './question.ts';
import type { OpenTask } from './task.ts';
import type { Paint } from '../output.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  nowMs: number;
  paint: Paint;
  /** Keys are read: questions can be answered right here. */
  hasKeys: boolean;
  /** Another process drives the run: Ctrl-C only ends the watching. */
  isAttached?: boolean;
  /** What was last said, such as that the run is being stopped. */
  notice: string;
  /** The task that keys have chosen, and the one that is opened. */
  selected?: string | undefined;
  open?: OpenTask | undefined;
  /** A line that is being typed. */
  typing?: { prompt: string; text: string } | undefined;
  /** The labels of the choices that are marked. */
  marked?: ReadonlySet<string> | undefined;
}

const NARROW_COLUMNS = 70;
const NAME_COLUMNS_MAX = 32;
const AGENT_COLUMNS_MAX = 14;
/** The share of a budget from which it is in sight. */
const NEARLY_SPENT = 0.8;
/** Header, blank, summary of the rest, blank, footer, and one line for the cursor. */
const OTHER_LINES = 6;

export function renderFrame(model: LiveModel, options: FrameOptions): string[] {
  const { run } = model;
  if (!run) return [fitColumns('starting …', options.columns)];
  if (options.open) return openedOf(model, options.open, options);
  const asked = questionLines(model, options);
  const money = moneyOf(model, options);
  const shown = shownRows(model, options);
  const lines = [
    headOf(model, options),
    ...money,
    '',
    ...rowsOf(shown, options),
    ...leftOf(shown, options),
    '',
    ...asked,
    ...toldLines(model, options),
    footOf(model, options),
  ];
  // A picture as high as the screen would make it scroll.
  const room = Math.max(1, options.rows - 1);
  return lines.length <= room ? lines : lines.filter((line) => line !== '').slice(0, room);
}

/** The tasks that there is room for. */
export function shownRows(model: LiveModel, options: FrameOptions): LiveRows {
  const others =
    OTHER_LINES +
    questionLines(model, options).length +
    toldLines(model, options).length +
    moneyOf(model, options).length;
  return model.rows(Math.max(1, options.rows - others), options.nowMs);
}

/** One task in place of all: its log or its diff, and what needs an answer. */
function openedOf(model: LiveModel, open: OpenTask, options: FrameOptions): string[] {
  const { columns, rows, paint } = options;
  const asked = [...questionLines(model, options), ...toldLines(model, options)];
  const row = model.row(open.id, options.nowMs);
  const { glyph, word, tone } = row?.sign ?? { glyph: ' ', word: '', tone: 'quiet' as const };
  const title = fitColumns(
    `${spellControls(row?.label ?? open.id)}  ${open.kind}`,
    Math.max(10, columns - 16),
  );
  const more = options.hasKeys ? ` · ${pauseKeys(model, open.id)}` : '';
  const keys = fitColumns(
    `↑↓ scroll · d ${open.nextKind} · esc back${more} · ${options.isAttached ? 'Ctrl-C detaches' : 'Ctrl-C stops'}`,
    columns - 1,
  );
  const lines = open.window(Math.max(1, rows - 5 - asked.length));
  return [
    `${paint(tone, `${glyph} ${word}`)}  ${paint('strong', title)}`,
    '',
    ...lines.map((line) => cutColumns(line, columns - 1)),
    '',
    ...asked,
    options.typing ? typedOf(options.typing, options) : paint('quiet', keys),
  ];
}

/** A line that may be painted; the screen cuts what is painted, and this what is not. */
function cutColumns(line: string, columns: number): string {
  return line.includes('\u001b') ? line : fitColumns(line, columns);
}

function headOf(model: LiveModel, { columns, nowMs, paint }: FrameOptions): string {
  const { id, state, sinceMs, counts, paused } = model.run!;
  const glyph = glyphOf(state);
  const time = formatElapsed((paused?.idleSinceMs ?? nowMs) - sinceMs);
  const name = fitColumns(spellControls(id), Math.max(8, columns - columnsOf(time) - 6));
  const room = columns - columnsOf(name) - columnsOf(time) - 8;
  const told = fitColumns(`${paused ? 'paused · ' : ''}${tellCounts(counts)}`, Math.max(0, room));
  return `${paint(toneOf(state), glyph)} ${paint('strong', name)}  ${room > 8 ? `${paint('quiet', told)}  ` : ''}${time}`;
}

/** What was spent, and who has to be waited for; nothing where there is no such thing. */
function moneyOf(model: LiveModel, { columns, nowMs, paint }: FrameOptions): string[] {
  const { spending, limits } = model.run!;
  const told = tellSpending(spending, limits);
  const tone = shareUsed(spending, limits) >= NEARLY_SPENT ? 'ask' : 'quiet';
  const wait = model.wait(nowMs);
  const waits = wait === undefined ? '' : plainLine(tellWaiting(wait, wait.leftMs));
  if (told === '' && waits === '') return [];
  const room = columns - columnsOf(told) - 6;
  const after = waits === '' || room < 12 ? '' : paint('ask', fitColumns(waits, room));
  return [`  ${[paint(tone, fitColumns(told, columns - 3)), after].filter(Boolean).join('  ')}`];
}

function rowsOf({ rows }: LiveRows, { columns: all, paint, selected }: FrameOptions): string[] {
  const columns = selected === undefined ? all : all - 2;
  const isNarrow = columns < NARROW_COLUMNS;
  const names = rows.map(({ label, depth }) => `${'  '.repeat(depth)}${spellControls(label)}`);
  const longest = Math.max(0, ...names.map(columnsOf));
  const nameWidth = Math.min(NAME_COLUMNS_MAX, longest, Math.max(10, columns - 14));
  const agentWidth = isNarrow
    ? 0
    : Math.min(AGENT_COLUMNS_MAX, Math.max(0, ...rows.map(({ agent }) => columnsOf(agent))));
  const costs = rows.map(({ spending }) => (spending ? tellUsd(spending) || '$?' : ''));
  const costWidth = isNarrow ? 0 : Math.max(0, ...costs.map(columnsOf));
  return rows.map((row, n) => {
    const { glyph, word, tone } = row.sign;
    const sign = isNarrow ? glyph : `${glyph} ${word.padEnd(9)}`;
    const cells = [
      padColumns(fitColumns(names[n]!, nameWidth), nameWidth),
      ...(agentWidth > 0 ? [padColumns(fitColumns(plainLine(row.agent), agentWidth), agentWidth)] : []),
      timeOf(row).padStart(6),
      ...(costWidth > 0 ? [costs[n]!.padStart(costWidth)] : []),
      ...(row.attempt > 1 ? [isNarrow ? `#${row.attempt}` : `attempt ${row.attempt}`] : []),
    ].join('  ');
    const room = columns - columnsOf(sign) - columnsOf(cells) - 5;
    const line = room < 6 ? '' : fitColumns(inOneLine(row.line), room);
    const mark = selected === undefined ? '' : row.id === selected ? '› ' : '  ';
    return `${mark}${paint(tone, sign)}  ${cells}${line === '' ? '' : `  ${paint('quiet', line)}`}`;
  });
}

function timeOf({ elapsedMs, state }: LiveRow): string {
  if (elapsedMs === undefined || state === 'waiting' || state === 'ready') return '';
  return formatElapsed(elapsedMs);
}

function leftOf({ left, leftCount }: LiveRows, { columns, paint }: FrameOptions): string[] {
  if (leftCount === 0) return [];
  return [paint('quiet', fitColumns(`… ${formatCount(leftCount)} more: ${tellCounts(left)}`, columns - 1))];
}

/** What Ctrl-C does. */
function interruptOf({ isAttached, columns, hasKeys }: FrameOptions): string {
  if (isAttached) return hasKeys ? 'Ctrl-C detaches · c cancels the run' : 'Ctrl-C detaches';
  return columns < NARROW_COLUMNS ? 'Ctrl-C stops, keeping the work' : 'Ctrl-C stops and keeps the work';
}

/** The end of what is typed, with how to be done with it. */
function typedOf(
  { prompt, text }: { prompt: string; text: string },
  { columns, paint }: FrameOptions,
): string {
  const keys = 'enter sends · esc leaves';
  const room = Math.max(10, columns - columnsOf(prompt) - columnsOf(keys) - 6);
  const all = spellControls(text);
  const shown = columnsOf(all) <= room ? all : `…${all.slice(-room / 2)}`;
  return `${paint('ask', `${prompt}:`)} ${shown}▏ ${paint('quiet', keys)}`;
}

/** What `p` does now, and `s` where an agent takes messages. */
function pauseKeys(model: LiveModel, task?: string): string {
  const pause = model.isPaused(task) ? 'p resume' : 'p pause';
  const isHeard = model.hearers.some(({ id }) => task === undefined || id === task);
  return isHeard ? `${pause} · s message` : pause;
}

/** What was last said and answered, above the keys. */
function toldLines(model: LiveModel, options: FrameOptions): string[] {
  const { columns, paint, notice } = options;
  const noticed = notice === '' ? [] : [paint('ask', fitColumns(plainLine(notice), columns - 1))];
  return [...answeredLines(model, options), ...noticed];
}

function footOf(model: LiveModel, options: FrameOptions): string {
  const { columns, paint, hasKeys } = options;
  if (options.typing) return typedOf(options.typing, options);
  const more = hasKeys ? `↑↓ enter open · ${pauseKeys(model)}` : 'bosun logs -f shows all output';
  const keys = columns < NARROW_COLUMNS ? interruptOf(options) : `${interruptOf(options)} · ${more}`;
  return paint('quiet', fitColumns(keys, columns - 1));
}
