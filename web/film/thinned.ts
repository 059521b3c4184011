/** A line of many points in as many as can be told apart. */

/** The last is among them. */
export function thinned<T>(all: readonly T[], pointsMax: number): readonly T[] {
  if (all.length <= pointsMax) return all;
  const every = Math.ceil(all.length / pointsMax);
  return all.filter((_, n) => n % every === 0 || n === all.length - 1);
}
