/** Reads JSON that agents and programs wrote: what nests without end is refused before anything recurses into it. */
import { formatCount } from './format-count.ts';
import type { Json } from '../contract/workflow.ts';

/** Deeper than anybody writes, and far from where recursion ends. */
export const JSON_DEPTH_MAX = 200;

/** Each is an object of its own in memory: far more than an agent needs, and read in a moment. */
const JSON_CONTAINERS_MAX = 100_000;
const JSON_KEYS_MAX = 100_000;
const JSON_VALUES_MAX = 1_000_000;
/** In words. */
export const JSON_MOST = `${formatCount(JSON_CONTAINERS_MAX)} lists and objects, ${formatCount(JSON_KEYS_MAX)} fields, ${formatCount(JSON_VALUES_MAX)} values or ${JSON_DEPTH_MAX} levels`;

/** What a text is like, if it is JSON. */
export interface JsonShape {
  /** Deeper than JSON_DEPTH_MAX, or of more parts than anybody means. */
  isTooMuch: boolean;
  /** How often a key stands in it. */
  keys: number;
}

/** Undefined where it is no JSON, or too much. */
export function parseJson(text: string, shape = shapeOf(text)): Json | undefined {
  if (shape.isTooMuch) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Counts brackets, commas and colons outside of strings; of what is no JSON it may say anything. */
export function shapeOf(text: string): JsonShape {
  let [depth, containers, commas, keys] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (code === 0x3a) {
      if ((keys += 1) > JSON_KEYS_MAX) return { isTooMuch: true, keys };
    } else if (code === 0x2c) {
      if ((commas += 1) > JSON_VALUES_MAX) return { isTooMuch: true, keys };
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      containers += 1;
      if (depth > JSON_DEPTH_MAX || containers > JSON_CONTAINERS_MAX) return { isTooMuch: true, keys };
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return { isTooMuch: false, keys };
}

/** Fewer than its text has where a key stands twice: of such a one every reader may see another value. */
export function keysIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + keysIn(item), 0);
  let keys = 0;
  for (const key in value) keys += 1 + keysIn(value[key]!);
  return keys;
}

/** In a text that is full of quotes it takes longer to jump to the next one than to walk there. */
const JUMPS_MAX = 64;

/** Where the string that begins at `from` ends; -1 where it does not. */
function endOfString(text: string, from: number): number {
  let start = from + 1;
  for (let jumps = 0; jumps < JUMPS_MAX; jumps += 1) {
    const at = text.indexOf('"', start);
    if (at === -1) return -1;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at;
    start = at + 1;
  }
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return -1;
}
