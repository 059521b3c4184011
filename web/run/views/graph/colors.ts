/** The colours of the page as a canvas needs them: read from its style, and again when that turns dark. */
import type { Tone } from '../../../parts/tone.ts';

export interface Colors {
  ground: string;
  paper: string;
  line: string;
  edge: string;
  ink: string;
  quiet: string;
  tones: Record<Tone, { full: string; soft: string; border: string }>;
  sans: string;
  mono: string;
}

export function readColors(of: Element): Colors {
  const style = getComputedStyle(of);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const line = read('line');
  const tone = (name: Tone): Colors['tones'][Tone] => {
    const full = read(name);
    return { full, soft: read(`${name}-soft`), border: mixed(full, line, 0.55) };
  };
  return {
    ground: read('ground'),
    paper: read('paper'),
    line,
    edge: read('edge'),
    ink: read('ink'),
    quiet: read('quiet'),
    tones: {
      good: tone('good'),
      bad: tone('bad'),
      busy: tone('busy'),
      ask: tone('ask'),
      still: tone('still'),
    },
    sans: read('sans'),
    mono: read('mono'),
  };
}

/** Of two colours such as `#1c1b19`. */
function mixed(one: string, other: string, share: number): string {
  const parts = (color: string): number[] =>
    [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const [a, b] = [parts(one), parts(other)];
  return `rgb(${a.map((part, n) => Math.round(part * share + b[n]! * (1 - share))).join(' ')})`;
}
