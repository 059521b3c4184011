/** The report as JSON text that is safe to show: what JSON leaves alone and a terminal obeys is escaped. */
import type { RunReport } from '../contract/report.ts';
import { safeJson } from './text/plain.ts';

export function renderJson(report: RunReport): string {
  return `${safeJson(report, 2)}\n`;
}
