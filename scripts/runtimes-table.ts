/**
 * Puts what `bosun conformance --json` measured into docs/runtimes.md, between its two marks. To measure again:
 * `bosun conformance --runtime codex --json > docs/conformance/codex.json`, then `node scripts/runtimes-table.ts`.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { ROWS, type ConformanceReport, type RowName } from '../src/operations/conformance/verdict.ts';

export const PAGE = 'docs/runtimes.md';
const MARKS = ['<!-- measured -->', '<!-- /measured -->'] as const;

if (import.meta.main) {
  for (const file of reportFiles()) writeFileSync(file, await tidied(readFileSync(file, 'utf8'), 'json'));
  writeFileSync(PAGE, await withTable(readFileSync(PAGE, 'utf8')));
}

/** The page with the table of what lies in docs/conformance. */
export async function withTable(page: string): Promise<string> {
  const [before, rest] = split(page, MARKS[0]);
  const [, after] = split(rest, MARKS[1]);
  const reports = reportFiles().map((file) => JSON.parse(readFileSync(file, 'utf8')) as ConformanceReport);
  return tidied(`${before}${MARKS[0]}\n\n${tableOf(reports)}\n\n${MARKS[1]}${after}`, 'markdown');
}

function reportFiles(): string[] {
  return globSync('docs/conformance/*.json').sort();
}

function tableOf(reports: ConformanceReport[]): string {
  const lines = [
    ['', ...reports.map((report) => `${nameOf(report)} ${report.version ?? ''}`.trim())],
    ['---', ...reports.map(() => '---')],
    ...(Object.keys(ROWS) as RowName[]).map((row) => [
      `${ROWS[row]} (\`${row}\`)`,
      ...reports.map(({ rows }) => rows.find((found) => found.row === row)?.holds ?? 'untried'),
    ]),
  ];
  const notes = reports.flatMap((report) =>
    report.rows
      .filter(({ holds }) => holds !== 'yes')
      .map(({ row, holds, fact }) => `- ${nameOf(report)}, \`${row}\`: ${holds}. ${escaped(fact)}`),
  );
  const days = [...new Set(reports.map(({ date }) => date))].sort();
  const when = days.length === 1 ? `on ${days[0]}` : `from ${days[0]} to ${days.at(-1)}`;
  return [
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    `Measured ${when} by \`bosun conformance\`, on ${reports[0]!.platform}. What is not a plain yes:`,
    '',
    ...notes,
  ].join('\n');
}

function nameOf({ runtime, command }: ConformanceReport): string {
  return command === undefined ? runtime : `${runtime} (${command})`;
}

/** What agents print is no markup. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>|#]/g, '\\$&');
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`${PAGE} has no mark ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

async function tidied(text: string, parser: 'markdown' | 'json'): Promise<string> {
  const options = JSON.parse(readFileSync('.prettierrc.json', 'utf8')) as object;
  return format(text, { ...options, parser });
}
