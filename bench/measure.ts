/** How a figure is measured and written down. It knows nothing of what is measured. */

/** One line of output: what we measured, what it is held against, and whether the goal is met. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  baseline: number;
  ratio: number;
  goal: string;
  ok: boolean;
}

export interface Bench {
  name: string;
  /** One sentence for `--help`. */
  about: string;
  /** Yields each figure as soon as it is known. */
  figures(): AsyncIterable<Figure>;
}

interface Sides {
  name: string;
  value: number;
  baseline: number;
  unit?: string;
}

/** A goal on `value / baseline`: ours costs at most `limit` times as much. */
export function atMost(limit: number, sides: Sides): Figure {
  return figureOf(sides, sides.value / sides.baseline, `ratio <= ${limit}`, (ratio) => ratio <= limit);
}

/** A goal on `baseline / value`: ours is at least `limit` times as fast. */
export function atLeast(limit: number, sides: Sides): Figure {
  return figureOf(sides, sides.baseline / sides.value, `ratio >= ${limit}`, (ratio) => ratio >= limit);
}

/** A goal on `value / baseline`: ours costs less. */
export function below(sides: Sides): Figure {
  return figureOf(sides, sides.value / sides.baseline, 'ratio < 1', (ratio) => ratio < 1);
}

/** No goal: there to judge the other lines by. */
export function forScale(sides: Sides): Figure {
  return figureOf(sides, sides.value / sides.baseline, 'none', () => true);
}

function figureOf(sides: Sides, ratio: number, goal: string, holds: (ratio: number) => boolean): Figure {
  const { name, value, baseline, unit = 'ms' } = sides;
  const ok = holds(ratio); // of the exact ratio: rounding meets no goal
  return { name, value: rounded(value), unit, baseline: rounded(baseline), ratio: rounded(ratio), goal, ok };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) throw new RangeError('no median of nothing');
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest of the values that at least so many in a hundred are not above. */
export function percentile(percent: number, values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  if (sorted.length === 0) throw new RangeError('no percentile of nothing');
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1]!;
}

/** `BENCH_ROUNDS` overrides how many rounds a bench asks for. */
export function roundsOr(rounds: number): number {
  const asked = Number(process.env.BENCH_ROUNDS ?? rounds);
  if (!Number.isInteger(asked) || asked < 1)
    throw new RangeError(`BENCH_ROUNDS=${process.env.BENCH_ROUNDS}: not a number of rounds`);
  return asked;
}

/**
 * Measures all sides once per round, each round beginning with another side, and returns the median of each.
 * What the machine does meanwhile then hits all of them alike. A side returns what it took.
 */
export async function interleave<Side extends string>(
  label: string,
  rounds: number,
  sides: Record<Side, () => Promise<number>>,
): Promise<Record<Side, number>> {
  const names = Object.keys(sides) as Side[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Side, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length]!;
      taken[name].push(await sides[name]());
    }
  }
  const medians = Object.fromEntries(names.map((name) => [name, median(taken[name])])) as Record<
    Side,
    number
  >;
  const said = names.map((name) => `${name} ${rounded(medians[name])} (${spread(taken[name])})`);
  progress(`${label}, median of ${rounds}: ${said.join(', ')}`);
  return medians;
}

function spread(values: readonly number[]): string {
  return `${rounded(Math.min(...values))}–${rounded(Math.max(...values))}`;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Says how far it is; figures alone go to stdout. */
export function progress(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
