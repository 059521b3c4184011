/** Keeps the last lines of what a task printed, whatever the pieces it came in. Never holds more than its limit. */
import type { EventOf } from '../../contract/event.ts';
import type { LogLine, LogReport } from '../../contract/report.ts';
import { HISTORY_LIMITS as KEPT } from '../../schedule/history/limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { plainLine } from './plain.ts';

type Output = Pick<EventOf<'attempt.output'>, 'attempt' | 'text' | 'base64' | 'droppedBytes'> & {
  stream: LogLine['stream'];
};

export class LogTail {
  #lines: LogLine[] = [];
  #chars = 0;
  #total = 0;
  #droppedBytes = 0;
  /** The line of each stream whose end has not come yet. */
  #open = new Map<Output['stream'], { attempt: number; text: string }>();

  add(event: Output, charsMax: number): void {
    this.#droppedBytes += event.droppedBytes ?? 0;
    const piece = event.text ?? Buffer.from(event.base64 ?? '', 'base64').toString();
    const open = this.#open.get(event.stream);
    const joins = open?.attempt === event.attempt;
    if (open && !joins) this.#push({ stream: event.stream, ...open }, charsMax);
    this.#open.delete(event.stream);
    const text = (joins ? open.text : '') + piece;
    const end = text.lastIndexOf('\n') + 1;
    // A piece may be nothing but line ends: lines that nobody will see are counted, not made.
    let from = end;
    for (let kept = 0; kept < REPORT_LIMITS.logLinesPerTask && from > 0; kept += 1)
      from = startOfLine(text, from);
    this.#total += countLineEnds(text, from);
    while (from < end) {
      const next = text.indexOf('\n', from) + 1;
      const last = text[next - 2] === '\r' && next - 2 >= from ? next - 2 : next - 1;
      this.#push({ attempt: event.attempt, stream: event.stream, text: text.slice(from, last) }, charsMax);
      from = next;
    }
    const rest = text.slice(end);
    if (rest)
      this.#open.set(event.stream, { attempt: event.attempt, text: cutAndCount(rest, KEPT.lineChars) });
  }

  chars(): number {
    return this.#chars + KEPT.lineChars * this.#open.size;
  }

  report(charsMax: number): LogReport {
    for (const [stream, line] of this.#open) this.#push({ stream, ...line }, charsMax);
    this.#open.clear();
    this.#trim(charsMax);
    const linesLeftOut = this.#total - this.#lines.length;
    return { lines: this.#lines, linesLeftOut, droppedBytes: this.#droppedBytes };
  }

  #push(line: LogLine, charsMax: number): void {
    // A lone carriage return overwrites the line in a terminal: what stays is what a person saw last.
    let end = line.text.length;
    while (line.text[end - 1] === '\r') end -= 1;
    const seen = line.text.slice(line.text.lastIndexOf('\r', end - 1) + 1, end);
    const text = plainLine(cutAndCount(seen, KEPT.lineChars)).trimEnd();
    this.#lines.push({ ...line, text });
    this.#chars += text.length;
    this.#total += 1;
    this.#trim(charsMax);
  }

  #trim(charsMax: number): void {
    let first = Math.max(0, this.#lines.length - REPORT_LIMITS.logLinesPerTask);
    for (let index = 0; index < first; index += 1) this.#chars -= this.#lines[index]!.text.length;
    while (this.#chars > charsMax && first < this.#lines.length) {
      this.#chars -= this.#lines[first]!.text.length;
      first += 1;
    }
    if (first > 0) this.#lines.splice(0, first);
  }
}

/** Of the line that ends right before `end`, line end included. */
function startOfLine(text: string, end: number): number {
  return end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
}

function countLineEnds(text: string, before: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < before; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
