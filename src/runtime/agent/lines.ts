/** Reads what an agent's program prints as one JSON object a line; bounded in the length of a line. Never fails. */
import type { Readable } from 'node:stream';
import { BoundedLines, type BoundedLine } from '../../base/bounded-lines.ts';
import { isFields } from '../../base/fields.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { Json } from '../../contract/workflow.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_CHARS = 2000;
const TEXT_LINE_BYTES_MAX = 4000;

export type AgentMessage = { [key: string]: Json };

/** Resolves at the end of the stream with the last of what was no message. */
export function readMessages(
  stream: Readable,
  take: (message: AgentMessage) => void,
  lineBytesMax = LINE_BYTES_MAX,
): Promise<string> {
  const lines = new BoundedLines(lineBytesMax);
  let garbage = '';

  const isNoMessage = (text: string): void => {
    garbage = `${garbage}${text}\n`.slice(-TAIL_CHARS);
  };
  const read = ({ bytes, isCut }: BoundedLine): void => {
    if (isCut) return isNoMessage(`(a line of more than ${lineBytesMax} bytes)`);
    const line = bytes.toString();
    if (line.trim() === '') return;
    const message = parsed(line);
    if (message) take(message);
    else isNoMessage(line.slice(0, TAIL_CHARS));
  };
  stream.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    for (let line = lines.next(); line; line = lines.next()) read(line);
  });
  // A pipe that breaks has ended, too.
  return new Promise((resolve) => {
    const end = (): void => {
      const last = lines.last();
      if (last) read(last);
      resolve(garbage.trim());
    };
    stream.once('error', () => {}).once('close', end);
  });
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
