/** Reads JSON that agents and programs wrote: what nests without end is refused before anything recurses into it. */
import type { Json } from '../contract/workflow.ts';

/** Deeper than anybody writes, and far from where recursion ends. */
export const JSON_DEPTH_MAX = 200;

/** Undefined where it is no JSON, or too deep. */
export function parseJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Counts brackets outside of strings; of what is no JSON it may say anything. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (code === 0x5b || code === 0x7b) {
      if ((depth += 1) > JSON_DEPTH_MAX) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
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
