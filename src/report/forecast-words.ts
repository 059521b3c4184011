/** What a run may cost and how long it may take, in a sentence. Pure; the page says it in the same words. */
import { formatDuration } from '../base/units.ts';
import { describeUsd } from '../schedule/money/budget-words.ts';
import type { Forecast } from '../contract/totals-schema.ts';

/** "usually $1.71 to $1.93 and 8m20s to 9m31s, by its last 12 runs that were done; 2 failed" */
export function describeForecast({ runs, failed, unpriced, usd, ms }: Forecast): string {
  if (!usd || !ms)
    return failed === 0 ? 'it has not run here before' : `${count(failed)} failed, none was done`;
  const cost = usd.high === 0 ? [] : [range(usd, describeUsd)];
  const time = range(ms, (value) =>
    formatDuration(value < 1000 ? Math.round(value) : Math.round(value / 1000) * 1000),
  );
  const by = runs === 1 ? 'its last run that was done' : `its last ${runs} runs that were done`;
  const rest = [
    ...(failed > 0 ? [`; ${count(failed)} failed meanwhile`] : []),
    ...(unpriced > 0 ? ['; some of what they used has no price'] : []),
  ];
  return `usually ${[...cost, time].join(' and ')}, by ${by}${rest.join('')}`;
}

function range({ low, high }: NonNullable<Forecast['usd']>, show: (value: number) => string): string {
  const [from, to] = [show(low), show(high)];
  return from === to ? from : `${from} to ${to}`;
}

function count(failed: number): string {
  return failed === 1 ? '1 run' : `${failed} runs`;
}
