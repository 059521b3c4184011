/** Where texts are broken into lines: prose by what its letters measure, output by columns. So every row of a log has a height that is known. */

const WORDS_KEPT_MAX = 20_000;

export class Measure {
  readonly #context = document.createElement('canvas').getContext('2d')!;
  readonly #widths = new Map<string, number>();

  /** As CSS writes it. */
  constructor(font: string) {
    this.#context.font = font;
  }

  of(text: string): number {
    let width = this.#widths.get(text);
    if (width === undefined) {
      width = this.#context.measureText(text).width;
      if (this.#widths.size >= WORDS_KEPT_MAX) this.#widths.clear();
      this.#widths.set(text, width);
    }
    return width;
  }
}

/** One line of prose as those that fit; a word that is longer than a line is broken. */
export function wrapProse(text: string, measure: Measure, widthPx: number): string[] {
  if (widthPx <= 0) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/(?<= )/)) {
    const own = measure.of(word);
    const bare = word.endsWith(' ') ? measure.of(word.slice(0, -1)) : own;
    if (used + bare <= widthPx) {
      line += word;
      used += own;
      continue;
    }
    if (line !== '') lines.push(line);
    let left = word;
    while (measure.of(left) > widthPx && left.length > 1) {
      const fits = fitting(left, measure, widthPx);
      lines.push(left.slice(0, fits));
      left = left.slice(fits);
    }
    line = left;
    used = measure.of(left);
  }
  lines.push(line);
  return lines;
}

/** How many characters of it fit, at least one; no pair of surrogates is parted. */
function fitting(text: string, measure: Measure, widthPx: number): number {
  let [low, high] = [1, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure.of(text.slice(0, middle)) <= widthPx) low = middle;
    else high = middle - 1;
  }
  const isParted = low > 1 && /[\ud800-\udbff]/.test(text[low - 1]!);
  return isParted ? low - 1 : low;
}
