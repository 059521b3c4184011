/** Reads what an agent's program prints as one JSON object a line; bounded in the length of a line. Never fails. */
import type { Readable } from 'node:stream';
import { BoundedLines, type BoundedLine } from '../../base/bounded-lines.ts';
import { isFields } from '../../base/fields.ts';
import { parseJson } from '../../base/parse-json.ts';
import { TurnShare } from '../../base/turn-share.ts';
import type { Json } from '../../contract/workflow.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_CHARS = 2000;
const TEXT_LINE_BYTES_MAX = 4000;
/** Of one that prints no message between them. */
const GARBAGE_LINES_MAX = 1000;
const GARBAGE_CHARS_TOLD = 200;
const ENDED = { value: undefined };

export type AgentMessage = { [key: string]: Json };

export interface MessageReader {
  take(message: AgentMessage): void;
  /** Nothing but other lines comes. */
  onGarbage?(said: string): void;
  lineBytesMax?: number;
}

/** Resolves at the end of the stream with the last of what was no message. */
export async function readMessages(
  stream: Readable,
  { take, onGarbage, lineBytesMax = LINE_BYTES_MAX }: MessageReader,
): Promise<string> {
  const lines = new BoundedLines(lineBytesMax);
  const share = new TurnShare();
  let garbage = '';
  let garbageLines = 0;

  const isNoMessage = (text: string): void => {
    garbage = `${garbage}${text}\n`.slice(-TAIL_CHARS);
    garbageLines += 1;
    if (garbageLines === GARBAGE_LINES_MAX) onGarbage?.(garbage.slice(-GARBAGE_CHARS_TOLD).trim());
  };
  const read = ({ bytes, isCut }: BoundedLine): void => {
    if (isCut) return isNoMessage(`(a line of more than ${lineBytesMax} bytes)`);
    const line = bytes.toString();
    if (line.trim() === '') return;
    const message = parsed(line);
    if (!message) return isNoMessage(line.slice(0, TAIL_CHARS));
    garbageLines = 0;
    take(message);
  };
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  for (;;) {
    // A pipe that breaks has ended, too.
    const { value: chunk } = await chunks.next().catch(() => ENDED);
    if (!chunk) break;
    lines.push(chunk);
    for (let line = lines.next(); line; line = lines.next()) {
      read(line);
      const nextTurn = share.take(line.bytes.length);
      if (nextTurn) await nextTurn;
    }
  }
  const last = lines.last();
  if (last) read(last);
  return garbage.trim();
}

/** Lines of text that somebody else keeps; of a long one the beginning. */
export function eachLine(take: (line: string) => void): (chunk: Buffer) => void {
  const lines = new BoundedLines(TEXT_LINE_BYTES_MAX);
  return (chunk) => {
    lines.push(chunk);
    for (let line = lines.next(); line; line = lines.next()) take(line.bytes.toString('latin1'));
  };
}

function parsed(line: string): AgentMessage | undefined {
  const value = parseJson(line);
  return isFields(value) ? value : undefined;
}

/** Parts of a message, for those who trust nobody to send them. */
export function record(value: Json | undefined): AgentMessage {
  return isFields(value) ? value : {};
}

export function countOf(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

export function wordsOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
