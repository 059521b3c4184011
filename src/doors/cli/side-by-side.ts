/** Patches as columns of a terminal, file by file; under each other where there is no room. It knows nothing of runs. */
import { fitColumns, padColumns } from '../../report/text/columns.ts';
import { colorPatch } from './color-patch.ts';
import { spellControls } from '../../report/text/plain.ts';
import type { Paint } from './output.ts';

export interface Column {
  title: string;
  patch: string;
}

/** Lines of code are not read in less. */
const WIDTH_MIN = 36;
const BETWEEN = ' │ ';
const TAB = '    ';

export function sideBySide(columns: readonly Column[], width: number, paint: Paint): string {
  const each = Math.floor((width - BETWEEN.length * (columns.length - 1)) / columns.length);
  const lines = each < WIDTH_MIN ? underEachOther(columns, paint) : besideEachOther(columns, each, paint);
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function underEachOther(columns: readonly Column[], paint: Paint): string[] {
  return columns.flatMap(({ title, patch }) => [
    paint('strong', `── ${spellControls(title)}`),
    ...patch.split('\n').map((line) => colorPatch(line, paint)),
  ]);
}

function besideEachOther(columns: readonly Column[], width: number, paint: Paint): string[] {
  const sections = columns.map(({ patch }) => sectionsOf(patch));
  const files = [...new Set(sections.flatMap((of) => [...of.keys()]))].toSorted();
  const row = (cells: readonly string[], color: (cell: string) => string): string =>
    cells.map((cell) => color(padColumns(fitColumns(cell, width), width))).join(BETWEEN);
  const strong = (cell: string): string => paint('strong', cell);
  const lines = [
    row(
      columns.map(({ title }) => spellControls(title)),
      strong,
    ),
  ];
  for (const file of files) {
    lines.push(
      row(
        columns.map(() => '─'.repeat(width)),
        (cell) => cell,
      ),
    );
    if (file !== '') lines.push(paint('strong', fitColumns(spellControls(file), width * columns.length)));
    const cells = sections.map((of) => of.get(file) ?? ['(unchanged)']);
    const height = Math.max(...cells.map(({ length }) => length));
    for (let n = 0; n < height; n++)
      lines.push(
        row(
          cells.map((all) => all[n] ?? ''),
          (cell) => colorPatch(cell, paint),
        ),
      );
  }
  return lines;
}

/** The hunks of each file; what stands before the first file has no name. */
function sectionsOf(patch: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  let isHead = true;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const file = /^diff --git .* b\/(.*)$/.exec(line)?.[1] ?? /^diff --git (.*)$/.exec(line)?.[1];
    if (file !== undefined) {
      sections.set(file, (lines = []));
      isHead = true;
      continue;
    }
    if (sections.size === 0) sections.set('', lines);
    if (line.startsWith('@@') || line.startsWith('Binary')) isHead = false;
    const isShown = !isHead || /^(new|deleted|old mode|new mode|rename)/.test(line) || sections.has('');
    if (isShown) lines.push(spellControls(line.replaceAll('\t', TAB)));
  }
  return sections;
}
