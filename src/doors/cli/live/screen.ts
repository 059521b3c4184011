/**
 * A picture of a few lines at the end of a terminal, drawn anew in its place: only lines that changed are written. It
 * knows nothing of what they say.
 */
import { columnsOf, fitColumns } from '../../../report/text/columns.ts';
import { harmless, splitPainted } from '../../../report/text/plain.ts';

const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';
const ERASE_LINE_END = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const RESET = '\u001b[0m';

export type Terminal = Pick<NodeJS.WriteStream, 'write'> & { columns?: number; rows?: number };

export class Screen {
  readonly #terminal: Terminal;
  #shown: string[] = [];
  /** How wide the terminal was then. */
  #columns = 0;
  readonly #restore = (): void => void this.#terminal.write(SHOW_CURSOR);

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    process.once('exit', this.#restore); // also where nobody closes it
    terminal.write(HIDE_CURSOR);
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  get rows(): number {
    return this.#terminal.rows || 24;
  }

  /** The cursor stands below the picture, at the beginning of a line. */
  draw(lines: readonly string[]): void {
    const next = lines
      .slice(0, Math.max(1, this.rows - 1))
      .map((line) => cutPainted(harmless(line), this.columns));
    const written = this.columns === this.#columns ? this.#changes(next) : `${this.#erase()}${whole(next)}`;
    this.#shown = next;
    this.#columns = this.columns;
    if (written !== '') this.#terminal.write(written);
  }

  /** Takes the picture away. */
  clear(): void {
    const erased = this.#erase();
    this.#shown = [];
    if (erased !== '') this.#terminal.write(erased);
  }

  /** Gives the terminal back, for a while or for good. */
  suspend(): void {
    this.clear();
    this.#terminal.write(SHOW_CURSOR);
  }

  resume(): void {
    this.#terminal.write(HIDE_CURSOR);
  }

  /** `isOthers`: the terminal is somebody else's by now. */
  close(isOthers: boolean): void {
    process.off('exit', this.#restore);
    if (!isOthers) this.suspend();
  }

  #changes(next: readonly string[]): string {
    const shown = this.#shown;
    const first = next.findIndex((line, n) => line !== shown[n]);
    if (first === -1 && next.length === shown.length) return '';
    const from = first === -1 ? next.length : first;
    const below = next.slice(from).map((line, n) => {
      const isSame = line === shown[from + n];
      return isSame ? '\n' : `${line}${ERASE_LINE_END}\n`;
    });
    return `${up(shown.length - from)}${below.join('')}${shown.length > next.length ? ERASE_BELOW : ''}`;
  }

  /** Where the terminal became narrower it has broken lines in two. */
  #erase(): string {
    if (this.#shown.length === 0) return '';
    const taken = this.#shown.map((line) => Math.ceil(Math.max(1, columnsOf(bare(line))) / this.columns));
    const rows = taken.reduce((sum, each) => sum + each, 0);
    return `${up(Math.min(rows, this.rows - 1))}${ERASE_BELOW}`;
  }
}

function up(lines: number): string {
  return lines > 0 ? `\u001b[${lines}A` : '';
}

function whole(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function bare(line: string): string {
  return splitPainted(line)
    .filter((_, n) => n % 2 === 0)
    .join('');
}

/** As much of a painted line as fits, in its colours. */
export function cutPainted(line: string, columnsMax: number): string {
  if (columnsOf(bare(line)) <= columnsMax) return line;
  let [left, cut] = [columnsMax, ''];
  for (const [n, part] of splitPainted(line).entries()) {
    if (n % 2 === 1) cut += part;
    else if (columnsOf(part) < left) {
      cut += part;
      left -= columnsOf(part);
    } else return `${cut}${fitColumns(`${part} `, left)}${RESET}`;
  }
  return `${cut}${RESET}`;
}
