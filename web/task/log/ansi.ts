/** The colours of what programs print: sequences of a terminal → runs of text with the names of classes. Nothing moves or hides. */
import { spellControls } from '../../../src/report/text/plain.ts';

/** What a sequence left switched on; it goes on into the next line. */
export interface Look {
  /** 1 to 8, by the order of terminals: black, red, green, yellow, blue, magenta, cyan, white; 0 for none. */
  fg: number;
  bg: number;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  under: boolean;
  inverse: boolean;
  strike: boolean;
}

export interface Run {
  text: string;
  /** Empty where it looks like nothing. */
  classes: string;
}

export const PLAIN: Look = {
  fg: 0,
  bg: 0,
  bold: false,
  dim: false,
  italic: false,
  under: false,
  inverse: false,
  strike: false,
};

/** CSI; OSC and its kin, up to their end; and what has two bytes. */
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g;
const NUMBERS_MAX = 32;
const SWITCHES = {
  1: ['bold', true],
  2: ['dim', true],
  3: ['italic', true],
  4: ['under', true],
  7: ['inverse', true],
  9: ['strike', true],
  23: ['italic', false],
  24: ['under', false],
  27: ['inverse', false],
  29: ['strike', false],
} as const;

/** One line. What has no sequence in it costs next to nothing. */
export function readAnsi(line: string, before: Look = PLAIN): { runs: Run[]; look: Look } {
  if (!/[\x1b\x80-\x9f]/.test(line)) return { runs: [runOf(line, before)], look: before }; // oxlint-disable-line no-control-regex
  const runs: Run[] = [];
  let look = before;
  let from = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    if (match.index > from) runs.push(runOf(line.slice(from, match.index), look));
    from = match.index + match[0].length;
    if (match[2] === 'm' && /^[\d;:]*$/.test(match[1]!)) look = lookAfter(look, match[1]!);
  }
  if (from < line.length) runs.push(runOf(line.slice(from), look));
  return { runs, look };
}

/** The same without its sequences, as long as it is shown. */
export function plainOf(line: string): string {
  return line.includes('\x1b') || /[\x80-\x9f]/.test(line) ? line.replace(SEQUENCE, '') : line; // oxlint-disable-line no-control-regex
}

function runOf(text: string, look: Look): Run {
  return { text: spellControls(text), classes: look === PLAIN ? '' : classesOf(look) };
}

function classesOf({ fg, bg, bold, dim, italic, under, inverse, strike }: Look): string {
  const [front, back] = inverse ? [bg || 9, fg || 9] : [fg, bg];
  const names = [
    front > 0 && `f${front}`,
    back > 0 && `g${back}`,
    bold && 'bold',
    dim && 'dim',
    italic && 'italic',
    under && 'under',
    strike && 'strike',
  ];
  return names.filter(Boolean).join(' ');
}

function lookAfter(before: Look, text: string): Look {
  const numbers = text.split(/[;:]/).slice(0, NUMBERS_MAX).map(Number);
  let look = before;
  for (let n = 0; n < numbers.length; n++) {
    const code = numbers[n]!;
    if (code === 0) look = PLAIN;
    else if (code === 22) look = { ...look, bold: false, dim: false };
    else if (code in SWITCHES) {
      const [field, isOn] = SWITCHES[code as keyof typeof SWITCHES];
      look = { ...look, [field]: isOn };
    } else if (code >= 30 && code <= 37) look = { ...look, fg: code - 29 };
    else if (code >= 90 && code <= 97) look = { ...look, fg: code - 89 };
    else if (code >= 40 && code <= 47) look = { ...look, bg: code - 39 };
    else if (code >= 100 && code <= 107) look = { ...look, bg: code - 99 };
    else if (code === 39) look = { ...look, fg: 0 };
    else if (code === 49) look = { ...look, bg: 0 };
    else if (code === 38 || code === 48) {
      const field = code === 38 ? 'fg' : 'bg';
      if (numbers[n + 1] === 5) {
        look = { ...look, [field]: ofPalette(numbers[n + 2] ?? 0) };
        n += 2;
      } else if (numbers[n + 1] === 2) {
        look = { ...look, [field]: nearest(numbers[n + 2] ?? 0, numbers[n + 3] ?? 0, numbers[n + 4] ?? 0) };
        n += 4;
      }
    }
  }
  return look;
}

/** Of the 256: our own colours have enough contrast in light and dark, theirs have not. */
function ofPalette(n: number): number {
  if (n < 16) return (n % 8) + 1;
  if (n >= 232) return n < 244 ? 1 : 8;
  const at = n - 16;
  return nearest(Math.floor(at / 36) * 51, (Math.floor(at / 6) % 6) * 51, (at % 6) * 51);
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 128 ? 1 : 8;
  const half = (most + least) / 2;
  return 1 + (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
}
