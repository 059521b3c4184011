/** Rows as CSV, which a spreadsheet opens: no cell of it is a formula, and none holds a control character. */
import { spellControls } from './plain.ts';

/** What makes a spreadsheet compute a cell, after blanks too. */
const FORMULA = /^\s*[=+\-@|%]/;

/** A line, with its end. Text that could be a formula gets an apostrophe before it; a number stays one. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cellOf).join(',')}\n`;
}

function cellOf(cell: string | number | null): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const plain = spellControls(cell);
  const shown = FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\s']/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
