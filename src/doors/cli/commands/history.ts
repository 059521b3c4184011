/** `bosun history`: the runs, or with `--by` their sums. */
import { BosunError } from '../../../contract/errors.ts';
import { formatCount } from '../../../base/format-count.ts';
import { formatDuration } from '../../../base/units.ts';
import { tokensInAll } from '../../../contract/model.ts';
import type { ShownRun } from '../../../contract/outputs.ts';
import type { Totals } from '../../../contract/totals-schema.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { csvLine } from '../../../report/text/csv.ts';
import { tellUsd } from '../../../report/money.ts';
import { glyphOf, toneOf } from '../../../report/words.ts';
import { describeUsd } from '../../../schedule/money/budget-words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { tellCounts } from '../../../report/text/figures.ts';
import { inOneLine, safeJson, spellControls } from '../../../report/text/plain.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut } from '../output.ts';

const LIMIT = 20;
const KEY_COLUMNS_MAX = 40;

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'json') && isOn(typed, 'csv'))
    throw new BosunError('usage', 'history: use --json or --csv, not both');
  if (optionText(typed, 'by') !== undefined) return sumUp(typed);
  if (isOn(typed, 'overview')) {
    writeOut(`${safeJson(await ask('overview', inputOf('overview', typed)))}\n`);
    return 0;
  }
  if (isOn(typed, 'served')) return listServed(typed);
  const since = optionText(typed, 'since');
  const runs = await ask('history', {
    ...(since === undefined && { limit: LIMIT }),
    ...inputOf('history', typed),
  });
  if (isOn(typed, 'json')) for (const each of runs) writeOut(`${safeJson(each)}\n`);
  else if (isOn(typed, 'csv')) writeOut(runsAsCsv(runs));
  else tell(runs);
  if (runs.length > 0) return 0;
  if (typed.options.state !== undefined || optionText(typed, 'before') !== undefined)
    writeError('no run is like that; see all with: bosun history\n');
  else
    writeError(
      since === undefined
        ? 'no run was ever started here; start one with: bosun run\n'
        : `no run started since ${spellControls(since)}; see all with: bosun history\n`,
    );
  return 0;
}

async function listServed(typed: Typed): Promise<number> {
  const served = await ask('servedRuns', { limit: LIMIT, ...inputOf('servedRuns', typed) });
  if (isOn(typed, 'json')) for (const each of served) writeOut(`${safeJson(each)}\n`);
  else tell(served.map(({ id, run }) => ({ ...run, id })));
  if (served.length === 0) writeError('no such run; list what is served with: bosun repositories\n');
  return 0;
}

async function sumUp(typed: Typed): Promise<number> {
  if (optionText(typed, 'limit') !== undefined)
    throw new BosunError('usage', 'history: --limit is not for --by');
  const totals = await ask(
    'totals',
    inputOf('totals', typed, { per: optionText(typed, 'by') as Totals['per'] }),
  );
  if (isOn(typed, 'json')) for (const row of totals.rows) writeOut(`${safeJson(row)}\n`);
  else if (isOn(typed, 'csv')) writeOut(totalsAsCsv(totals));
  else tellTotals(totals);
  if (totals.rows.length === 0) writeError('nothing to sum up in that time\n');
  if (totals.isCut) writeError('there is more than this; choose a later --since\n');
  return 0;
}

function tell(runs: ShownRun[]): void {
  const paint = painter(hasColor(process.stdout));
  const width = Math.max(...runs.map(({ id }) => id.length));
  const costs = runs.map(({ spending }) => (spending ? tellUsd(spending) || '$?' : ''));
  const costWidth = Math.max(...costs.map(columnsOf));
  const columns = columnsOfStream(process.stdout);
  for (const [n, run] of runs.entries()) {
    const { id, state, createdAtMs, endedAtMs, idleMs = 0, counts, about } = run;
    const when = new Date(createdAtMs).toLocaleString('sv').slice(0, 16);
    const took = endedAtMs === undefined ? '' : formatDuration(endedAtMs - createdAtMs - idleMs);
    const shown = paint(toneOf(state), padColumns(`${glyphOf(state)} ${state}`, 13));
    const cost = costWidth === 0 ? '' : `  ${costs[n]!.padStart(costWidth)}`;
    const first = `  ${id.padEnd(width)}  ${when}  ${took.padStart(7)}${cost}  `;
    const rest = [tellCounts(counts), mergedWord(run), about ?? '']
      .filter(Boolean)
      .map(inOneLine)
      .join(' · ');
    const room = Math.max(10, columns - 14 - columnsOf(first));
    writeOut(`${shown}${first}${paint('quiet', fitColumns(rest, room))}\n`);
  }
}

/** Empty where there is nothing to merge, or not yet. */
function mergedWord({ landed, headCommit, isMerged }: ShownRun): string {
  const isAll = landed?.head === headCommit;
  if (isMerged ?? isAll) return 'merged';
  if (landed && !isAll) return 'merged in part';
  return isMerged === undefined ? '' : 'not merged';
}

function tellTotals({ per, rows }: Totals): void {
  const paint = painter(hasColor(process.stdout));
  const lines = rows.map((row) => [
    fitColumns(spellControls(row.key), KEY_COLUMNS_MAX),
    formatCount(row.runs),
    formatCount(row.tasks),
    row.failureRate === null ? '-' : `${Math.round(row.failureRate * 100)}%`,
    `${describeUsd(row.usd)}${row.unpriced > 0 ? '+?' : ''}`,
    formatCount(row.tokens),
    formatDuration(row.workedMs),
  ]);
  const head = [per, 'runs', 'tasks', 'failed', 'cost', 'tokens', 'time'];
  const widths = head.map((name, n) => Math.max(name.length, ...lines.map((cells) => columnsOf(cells[n]!))));
  const lineOf = (cells: string[]): string =>
    cells
      .map((cell, n) =>
        n === 0 ? padColumns(cell, widths[n]!) : ' '.repeat(widths[n]! - columnsOf(cell)) + cell,
      )
      .join('  ');
  if (rows.length === 0) return;
  writeOut(`${paint('quiet', lineOf(head))}\n`);
  for (const cells of lines) writeOut(`${lineOf(cells)}\n`);
  if (rows.some(({ unpriced }) => unpriced > 0))
    writeError('+?: and requests to models whose price nobody knows\n');
}

function runsAsCsv(runs: ShownRun[]): string {
  const head = ['run', 'workflow', 'state', 'started', 'ended', 'seconds', 'done', 'failed', 'usd', 'tokens'];
  const rows = runs.map(({ id, name, state, createdAtMs, endedAtMs, idleMs = 0, counts, spending }) => [
    id,
    name,
    state,
    new Date(createdAtMs).toISOString(),
    endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
    endedAtMs === undefined ? null : (endedAtMs - createdAtMs - idleMs) / 1000,
    counts.done ?? 0,
    counts.failed ?? 0,
    spending?.usd ?? 0,
    spending ? tokensInAll(spending.tokens) : 0,
  ]);
  return [head, ...rows].map(csvLine).join('');
}

function totalsAsCsv({ per, rows }: Totals): string {
  const head = [
    per,
    'runs',
    'tasks',
    'failed',
    'failure rate',
    'usd',
    'unpriced',
    'requests',
    'tokens',
    'seconds',
  ];
  const lines = rows.map(
    ({ key, runs, tasks, failed, failureRate, usd, unpriced, requests, tokens, workedMs }) => {
      return [key, runs, tasks, failed, failureRate, usd, unpriced, requests, tokens, workedMs / 1000];
    },
  );
  return [head, ...lines].map(csvLine).join('');
}
