/** Reads JSON that agents and programs wrote: what nests without end is refused before anything recurses into it. */
import type { Json } from '../contract/workflow.ts';

/** Deeper than anybody writes, and far from where recursion ends. */
export const JSON_DEPTH_MAX = 200;

/** Undefined where it is no JSON, or too deep. */
export function parseJson(text: string): Json | undefined {
  return scan(text).isTooDeep ? undefined : parsed(text);
}

/** Also whether an object has a key twice: of such a one every reader may see another value. */
export function readJson(text: string): { value: Json | undefined; hasKeyTwice: boolean } {
  const { isTooDeep, keys } = scan(text);
  const value = isTooDeep ? undefined : parsed(text);
  return { value, hasKeyTwice: value !== undefined && keysIn(value) !== keys };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Counts brackets and colons outside of strings; of what is no JSON it may say anything. */
function scan(text: string): { isTooDeep: boolean; keys: number } {
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (code === 0x3a) keys += 1;
    else if (code === 0x5b || code === 0x7b) {
      if ((depth += 1) > JSON_DEPTH_MAX) return { isTooDeep: true, keys };
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return { isTooDeep: false, keys };
}

function keysIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return items.reduce<number>((sum, item) => sum + keysIn(item), Array.isArray(value) ? 0 : items.length);
}

/** Where the string that begins at `from` ends; -1 where it does not. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === 0x5c) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}
