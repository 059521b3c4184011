/** Reads the score that a command printed. Pure. */

/** The last number of a text; undefined where there is none that is finite. */
export function lastNumber(text: string): number | undefined {
  const found = text.match(/(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\w])/gi)?.at(-1);
  const number = found === undefined ? NaN : Number(found);
  return Number.isFinite(number) ? number : undefined;
}
