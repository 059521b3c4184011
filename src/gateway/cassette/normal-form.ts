/**
 * A request without what differs each time that the same is asked: two requests with equal keys are the same question.
 * Pure.
 */
import { createHash } from 'node:crypto';
import { normalText, type Ids, type Memo } from '../../base/normal-text.ts';
import type { CassetteQuestion } from './question.ts';

export interface NormalForm {
  key: string;
  /** For people: a line for each value, `messages[2].content: …`; texts of several lines have several. */
  lines(): string[];
}

/** Says who asks, or what may be cached; never what is asked. */
const LEFT_OUT = new Set([
  'cache_control',
  'metadata',
  'client_metadata',
  'user',
  'user_id',
  'session_id',
  'prompt_cache_key',
  'safety_identifier',
  'created',
  'created_at',
  'cachedContent',
  'encrypted_content',
]);
/** Names with numbers that look like chance and are none. */
const KEPT = new Set(['model']);

export function normalForm(question: CassetteQuestion, memo: Memo): NormalForm {
  const ids: Ids = new Map();
  const { request, run } = question;
  const runs = run ? new RegExp(`(?<![\\w-])${escaped(run)}-\\d+(?![\\w-])`, 'g') : undefined;
  const text = (value: string): string => normalText(runs ? value.replace(runs, '<run>') : value, ids, memo);
  const body = normal(
    'json' in request ? request.json : 'text' in request ? request.text : request.base64,
    text,
  );
  const { method, provider, dialect, path } = question;
  const form = { method, provider, dialect, path, body };
  const key = createHash('sha256').update(JSON.stringify(form)).digest('base64url');
  return { key, lines: () => linesOf(form, '') };
}

function normal(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => normal(item, text));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([key]) => !LEFT_OUT.has(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([key, item]) => [key, KEPT.has(key) ? item : normal(item, text)]));
}

function linesOf(value: unknown, path: string): string[] {
  if (typeof value === 'string') return value.split('\n').map((line) => `${path}: ${line}`);
  if (Array.isArray(value)) return value.flatMap((item, n) => linesOf(item, `${path}[${n}]`));
  if (typeof value !== 'object' || value === null) return [`${path}: ${String(value)}`];
  return Object.entries(value).flatMap(([key, item]) => linesOf(item, path === '' ? key : `${path}.${key}`));
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w-]/g, '\\$&');
}
