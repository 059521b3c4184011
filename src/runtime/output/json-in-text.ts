/** Finds the JSON in what a model wrote, for agents that cannot be held to a schema. It checks nothing. */
import { parseJson } from '../../base/parse-json.ts';
import type { Json } from '../../contract/workflow.ts';
import type { JsonSchema } from '../../contract/model.ts';

/** How many places are tried, and how much is read for all of them: a text may be full of brackets. */
const TRIES_MAX = 2000;
const TRIED_CHARS_MAX = 2 * 1024 * 1024;

/** The whole text as JSON; where JSON was asked for also the last object or list in it. */
export function jsonIn(text: string, isAsked: boolean): Json | undefined {
  const whole = parseJson(text.trim());
  if (whole !== undefined || !isAsked) return whole;
  const fenced = lastFenced(text);
  const inFence = fenced === undefined ? undefined : parseJson(fenced);
  return inFence ?? lastIn(text);
}

/** What to tell a model that knows no other way. */
export function askForJson(schema: JsonSchema): string {
  return `When you are done, end with a last message that is nothing but JSON (no prose, no code fence) that satisfies this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** What is between the last two lines that open and close a code fence, of JSON or of nothing in particular. */
function lastFenced(text: string): string | undefined {
  let from: number | undefined;
  let found: string | undefined;
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    const mark = text.indexOf('```', at);
    if (mark === -1) break;
    if (mark < end) {
      const line = text.slice(mark, end).trimEnd();
      if (from === undefined) {
        if (line === '```' || line === '```json') from = end + 1;
      } else if (text.slice(at, mark).trim() === '') {
        found = text.slice(from, at);
        from = undefined;
      }
    }
    at = end + 1;
  }
  return found;
}

/** The longest value that ends where the last bracket closes. */
function lastIn(text: string): Json | undefined {
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (end < 0) return undefined;
  const open = text[end] === '}' ? '{' : '[';
  let found: Json | undefined;
  let from = end;
  let left = TRIED_CHARS_MAX;
  for (let tries = 0; tries < TRIES_MAX && from > 0; tries += 1) {
    from = text.lastIndexOf(open, from - 1);
    if (from < 0 || (left -= end + 1 - from) < 0) break;
    found = parseJson(text.slice(from, end + 1)) ?? found;
  }
  return found;
}
