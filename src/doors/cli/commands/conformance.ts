/** `bosun conformance`: what an installed agent can do, found out by trying it. */
import { RUNTIME_DEFAULT } from '../../../contract/runtimes.ts';
import {
  isConforming,
  type ConformanceReport,
  type Holds,
  type VerdictRow,
} from '../../../operations/conformance/verdict.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { hasColor, painter, writeError, writeOut, type Color } from '../output.ts';

const TONES: Record<Holds, Color> = {
  yes: 'good',
  partly: 'ask',
  no: 'bad',
  cannot: 'quiet',
  untried: 'quiet',
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function run(typed: Typed): Promise<number> {
  const interrupted = new AbortController();
  // It lets go of what it made; a second signal finds nobody who would.
  for (const signal of SIGNALS) process.once(signal, () => interrupted.abort());
  const runtime = optionText(typed, 'runtime') ?? RUNTIME_DEFAULT;
  const report = await ask('conformance', inputOf('conformance', typed, { runtime }), {
    signal: interrupted.signal,
    onRow: ({ row, holds, fact }) => writeError(`${row}: ${holds} (${plainLine(fact)})\n`),
  });
  if (isOn(typed, 'json')) writeOut(`${safeJson(report)}\n`);
  else tell(report);
  const isGood = isConforming(report);
  writeError(`\n${isGood ? 'bosun can run this agent' : `bosun cannot rely on it: ${lacking(report)}`}\n`);
  return isGood ? 0 : 1;
}

function tell({ runtime, command, version, isolation, rows }: ConformanceReport): void {
  const paint = painter(hasColor(process.stdout));
  const name = [runtime, command && `(${command})`, version].filter(Boolean).join(' ');
  writeOut(`${paint('strong', plainLine(name))}, ${isolation}\n\n`);
  const columns = (of: (row: VerdictRow) => string): number =>
    Math.max(0, ...rows.map((row) => of(row).length));
  const [names, answers] = [columns(({ row }) => row), columns(({ holds }) => holds)];
  for (const { row, holds, about, fact, must } of rows) {
    const label = `${paint(TONES[holds], holds)}${' '.repeat(answers - holds.length)}`;
    writeOut(`${label}  ${row.padEnd(names)}  ${about}${must ? ' (must)' : ''}: ${plainLine(fact)}\n`);
  }
}

function lacking({ rows }: ConformanceReport): string {
  return rows
    .filter(({ must, holds }) => must && holds !== 'yes')
    .map(({ row }) => row)
    .join(', ');
}
