/** The report as JSON text that is safe to show: what JSON leaves alone and a terminal obeys is escaped. */
import type { RunReport } from '../contract/report.ts';

export function renderJson(report: RunReport): string {
  const text = JSON.stringify(report, null, 2);
  return `${text.replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escapeUnit)}\n`;
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
