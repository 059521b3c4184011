/** The parts of the text report on money and on runtimes that failed. */
import type { RunReport } from '../../contract/report.ts';
import { costNotes, describeTokens, fallbackTexts, shortCost } from '../cost-words.ts';
import { wrapColumns } from './columns.ts';
import { plainLine, spellControls } from './plain.ts';
import { count, more } from '../words.ts';

const SHOWN = { costs: 8, fallbacks: 3 };

/** What was spent, what might have been, and what is odd about it. */
export function costs(report: RunReport, width: number): string[] {
  const { cost } = report.totals;
  const sum = `${shortCost(cost)} for ${count(cost.requests, 'request')}; tokens: ${describeTokens(cost)}`;
  const all = [...(cost.requests === 0 ? [] : [sum]), ...costNotes(report)];
  if (all.length === 0) return [];
  const lines = all.slice(0, SHOWN.costs).flatMap((note) => wrapped(note, width));
  return ['Cost', ...lines, ...more(all.length, SHOWN.costs)];
}

/** Other runtimes than the agents' own. */
export function fallbacks(report: RunReport, width: number): string[] {
  const all = fallbackTexts(report);
  if (all.length === 0) return [];
  const lines = all
    .slice(0, SHOWN.fallbacks)
    .flatMap(({ task, text }) => wrapped(`${spellControls(task)}  ${text}`, width));
  return ['Fallbacks', ...lines, ...more(all.length, SHOWN.fallbacks)];
}

function wrapped(text: string, width: number): string[] {
  return wrapColumns(plainLine(text), width - 4, ' ').map((line, n) => `  ${n === 0 ? '' : '  '}${line}`);
}
