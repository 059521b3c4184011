/** Reading and writing what all dialects have in common: texts in nested content, pieces of text, SSE. */
import type { ChatMessage } from './asked.ts';

/** Characters of a piece of a stream: what models send is a word or a few. */
const PIECE_CHARS = 24;
/** Of a text so long that it would be more pieces than this, pieces are larger. */
const PIECES_MAX = 2000;

export type WireFields = Record<string, unknown>;

/** The text in what may be text, a part with text, or a list of such parts. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textIn).join('\n');
  if (typeof content !== 'object' || content === null) return '';
  const { text, content: inner, output } = content as WireFields;
  return textIn(text ?? inner ?? output);
}

export function listIn(value: unknown): WireFields[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

export function fieldsIn(value: unknown): WireFields {
  return typeof value === 'object' && value !== null ? (value as WireFields) : {};
}

/** Several messages of the model one right after the other are one answer. */
export function countTurns(messages: readonly ChatMessage[]): number {
  return messages.filter(({ role }, n) => role === 'assistant' && messages[n - 1]?.role !== 'assistant')
    .length;
}

export function piecesOf(text: string): string[] {
  const size = Math.max(PIECE_CHARS, Math.ceil(text.length / PIECES_MAX));
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = at + size;
    // Half of a surrogate pair is no text.
    if (/[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end++;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

export function sse(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** An event whose name is the type of its data. */
export function named(data: { type: string } & WireFields): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
