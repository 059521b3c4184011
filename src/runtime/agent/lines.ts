/** Reads what an agent's program prints as one JSON object a line; bounded in the length of a line. Never fails. */
import type { Readable } from 'node:stream';
import { isFields } from '../../base/fields.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { Json } from '../../contract/workflow.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_CHARS = 2000;
const TEXT_LINE_CHARS_MAX = 4000;

export type AgentMessage = { [key: string]: Json };

/** Resolves at the end of the stream with the last of what was no message. */
export function readMessages(
  stream: Readable,
  take: (message: AgentMessage) => void,
  lineBytesMax = LINE_BYTES_MAX,
): Promise<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let garbage = '';

  const isNoMessage = (text: string): void => {
    garbage = `${garbage}${text}\n`.slice(-TAIL_CHARS);
  };
  const endLine = (): void => {
    const line = Buffer.concat(parts).toString();
    const isTooLong = bytes > lineBytesMax;
    parts = [];
    bytes = 0;
    if (isTooLong) return isNoMessage(`(a line of more than ${lineBytesMax} bytes)`);
    if (line.trim() === '') return;
    const message = parsed(line);
    if (message) take(message);
    else isNoMessage(line.slice(0, TAIL_CHARS));
  };
  stream.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      add(chunk.subarray(from, at));
      endLine();
      from = at + 1;
    }
    add(chunk.subarray(from));
  });
  function add(piece: Buffer): void {
    bytes += piece.length;
    if (bytes > lineBytesMax) parts = [];
    else if (piece.length > 0) parts.push(piece);
  }
  // A pipe that breaks has ended, too.
  return new Promise((resolve) => {
    const end = (): void => {
      endLine();
      resolve(garbage.trim());
    };
    stream.once('error', () => {}).once('close', end);
  });
}

/** Lines of text that somebody else keeps; of a long one the beginning. */
export function eachLine(take: (line: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(0, TEXT_LINE_CHARS_MAX);
    for (const line of lines) take(line.slice(0, TEXT_LINE_CHARS_MAX));
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
