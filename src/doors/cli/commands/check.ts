/** `bosun check` */
import { BosunError } from '../../../contract/errors.ts';
import type { Checked } from '../../../operations/check.ts';
import { unboundOf, type Unbound } from '../../../definition/check/ownership.ts';
import { describeForecast } from '../../../report/forecast-words.ts';
import { showAsked } from '../../../operations/trust.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { spellControls } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { formatCount } from '../../../base/format-count.ts';
import { columnsOfStream, hasColor, painter, writeOut, type Paint, say } from '../output.ts';
import { renderTree } from '../live/task-tree.ts';
import { withTrust } from '../with-trust.ts';

const OWNED_LINES_MAX = 200;
const PATTERN_COLUMNS_MAX = 50;

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'list')) return list(typed);
  const checked = await withTrust(() => ask('check', inputOf('check', typed)));
  tellWorkflow(checked, 'ok');
  await tellForecast(checked.workflow.name);
  return 0;
}

async function list(typed: Typed): Promise<number> {
  if (typed.args.length > 0) throw new BosunError('usage', 'check: --list takes no file');
  const { files, isCut } = await ask('workflows', {});
  for (const { file, name } of files)
    writeOut(`${spellControls(file)}${name === undefined ? '' : `  ${spellControls(name)}`}\n`);
  if (files.length === 0) say('there is no workflow here; write one with: bosun init', 'note');
  if (isCut) say('there may be more than these', 'note');
  return 0;
}

/** Where it has run before. */
async function tellForecast(workflow: string): Promise<void> {
  const forecast = await ask('forecast', { workflow }).catch((error: unknown) => {
    if (error instanceof BosunError) return undefined; // a check needs no repository
    throw error;
  });
  if (forecast && forecast.runs > 0) writeOut(`${describeForecast(forecast)}\n`);
}

/** What it is, and its tasks; also what `run --dry-run` shows. */
export function tellWorkflow(
  { workflow, warnings, ignored, asks, file, owners }: Checked,
  lead: string,
): void {
  const paint = painter(hasColor(process.stdout));
  const facts = [
    count(Object.keys(workflow.tasks).length, 'task'),
    ...(Object.keys(workflow.agents).length > 0 ? [count(Object.keys(workflow.agents).length, 'agent')] : []),
    `at most ${workflow.concurrency} at a time`,
  ];
  writeOut(`${paint('good', lead)}: ${facts.join(', ')} (${workflow.name}, ${file})\n`);
  for (const line of renderTree(workflow, paint, columnsOfStream(process.stdout))) writeOut(`${line}\n`);
  const free = owners.length > 0 ? unboundOf(workflow) : [];
  for (const line of renderOwners(owners, free, paint, columnsOfStream(process.stdout)))
    writeOut(`${line}\n`);
  if (asks.length > 0) writeOut('asks for more than this repository:\n');
  for (const line of showAsked(asks)) writeOut(`  ${line}\n`);
  for (const warning of [...warnings, ...ignored]) say(warning, 'warning');
}

/** Path pattern → the tasks that own it, and those that are held to no pattern. */
function renderOwners(
  owners: Checked['owners'],
  free: readonly Unbound[],
  paint: Paint,
  columns: number,
): string[] {
  if (owners.length === 0) return [];
  const tasks = new Map<string, Set<string>>();
  for (const { pattern, task, agent, shared } of owners) {
    const known = tasks.get(pattern) ?? new Set();
    tasks.set(pattern, known.add(`${task} (${agent}${shared ? ', shared' : ''})`));
  }
  const rows = [...tasks].map(([pattern, names]) => [spellControls(pattern), [...names].join(', ')] as const);
  const shown = rows.slice(0, OWNED_LINES_MAX);
  if (free.length > 0)
    shown.push(['any file', free.map(({ task, agent }) => `${task} (${agent})`).join(', ')]);
  const width = Math.min(PATTERN_COLUMNS_MAX, Math.max(...shown.map(([pattern]) => columnsOf(pattern))));
  const lines = shown.map(([pattern, names]) => {
    const rest = fitColumns(names, Math.max(10, columns - width - 4));
    return `  ${padColumns(fitColumns(pattern, width), width)}  ${paint('quiet', rest)}`;
  });
  const left = rows.length - OWNED_LINES_MAX;
  return ['files:', ...lines, ...(left > 0 ? [`  … and ${formatCount(left)} more`] : [])];
}
