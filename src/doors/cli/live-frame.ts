/** One picture of a live run as lines of text, fitted to a terminal. Pure; what it gives is safe to print. */
import { columnsOf, fitColumns, padColumns, plainLine, spellControls } from '../../report/plain.ts';
import { glyphOf, toneOf } from '../../report/words.ts';
import { formatCount, formatElapsed, tellCounts } from './figures.ts';
import type { LiveModel, LiveRow, LiveRows } from './live-model.ts';
import type { Paint } from './output.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  nowMs: number;
  paint: Paint;
  /** Keys are read: questions can be answered right here. */
  hasKeys: boolean;
  /** What was last said, such as that the run is being stopped. */
  notice: string;
}

const NARROW_COLUMNS = 70;
const NAME_COLUMNS_MAX = 32;
const AGENT_COLUMNS_MAX = 14;
/** Header, blank, summary of the rest, blank, question, footer, and one line for the cursor. */
const OTHER_LINES = 7;

export function renderFrame(model: LiveModel, options: FrameOptions): string[] {
  const { run } = model;
  if (!run) return [fitColumns('starting …', options.columns)];
  const limit = Math.max(1, options.rows - OTHER_LINES);
  const shown = model.rows(limit, options.nowMs);
  const lines = [
    headOf(model, options),
    '',
    ...rowsOf(shown, options),
    ...leftOf(shown, options),
    '',
    ...footOf(model, options),
  ];
  // A picture as high as the screen would make it scroll.
  const room = Math.max(1, options.rows - 1);
  return lines.length <= room ? lines : lines.filter((line) => line !== '').slice(0, room);
}

function headOf(model: LiveModel, { columns, nowMs, paint }: FrameOptions): string {
  const { id, state, sinceMs, counts } = model.run!;
  const glyph = glyphOf(state);
  const time = formatElapsed(nowMs - sinceMs);
  const name = fitColumns(spellControls(id), Math.max(8, columns - columnsOf(time) - 6));
  const room = columns - columnsOf(name) - columnsOf(time) - 8;
  const told = fitColumns(tellCounts(counts), Math.max(0, room));
  return `${paint(toneOf(state), glyph)} ${paint('strong', name)}  ${room > 8 ? `${paint('quiet', told)}  ` : ''}${time}`;
}

function rowsOf({ rows }: LiveRows, { columns, paint }: FrameOptions): string[] {
  const isNarrow = columns < NARROW_COLUMNS;
  const names = rows.map(({ id, depth }) => `${'  '.repeat(depth)}${spellControls(id)}`);
  const longest = Math.max(0, ...names.map(columnsOf));
  const nameWidth = Math.min(NAME_COLUMNS_MAX, longest, Math.max(10, columns - 14));
  const agentWidth = isNarrow
    ? 0
    : Math.min(AGENT_COLUMNS_MAX, Math.max(0, ...rows.map(({ agent }) => columnsOf(agent))));
  return rows.map((row, n) => {
    const sign = isNarrow ? glyphOf(row.state) : `${glyphOf(row.state)} ${row.state.padEnd(9)}`;
    const cells = [
      padColumns(fitColumns(names[n]!, nameWidth), nameWidth),
      ...(agentWidth > 0 ? [padColumns(fitColumns(plainLine(row.agent), agentWidth), agentWidth)] : []),
      timeOf(row).padStart(6),
      ...(row.attempt > 1 ? [isNarrow ? `#${row.attempt}` : `attempt ${row.attempt}`] : []),
    ].join('  ');
    const room = columns - columnsOf(sign) - columnsOf(cells) - 5;
    const line = room < 6 ? '' : fitColumns(plainLine(row.line).trim(), room);
    return `${paint(toneOf(row.state), sign)}  ${cells}${line === '' ? '' : `  ${paint('quiet', line)}`}`;
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

function footOf(model: LiveModel, { columns, paint, hasKeys, notice }: FrameOptions): string[] {
  const { question, run } = model;
  const lines: string[] = [];
  if (question) {
    const how = hasKeys ? '  [y]es [n]o' : `  bosun answer ${question.id} yes --run ${run!.id}`;
    const asked = fitColumns(
      plainLine(`? ${question.task}: ${question.text}`),
      Math.max(10, columns - columnsOf(how) - 1),
    );
    lines.push(`${paint('ask', asked)}${fitColumns(how, columns - 11)}`);
  }
  const keys =
    columns < NARROW_COLUMNS
      ? 'Ctrl-C stops, keeping the work'
      : 'Ctrl-C stops and keeps the work · bosun logs -f shows all that is printed';
  lines.push(
    notice === ''
      ? paint('quiet', fitColumns(keys, columns - 1))
      : paint('ask', fitColumns(plainLine(notice), columns - 1)),
  );
  return lines;
}
