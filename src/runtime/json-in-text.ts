/** Finds the JSON in what a model wrote, for agents that cannot be held to a schema. It checks nothing. */
import type { Json } from '../contract/workflow.ts';
import type { JsonSchema } from '../contract/model.ts';

/** How many places are tried: a text may be full of brackets. */
const TRIES_MAX = 2000;

/** The whole text as JSON; where JSON was asked for also the last object or list in it. */
export function jsonIn(text: string, isAsked: boolean): Json | undefined {
  const whole = parsed(text.trim());
  if (whole !== undefined || !isAsked) return whole;
  const fenced = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)\n\s*```/g)].at(-1)?.[1];
  const inFence = fenced === undefined ? undefined : parsed(fenced);
  return inFence ?? lastIn(text);
}

/** What to tell a model that knows no other way. */
export function askForJson(schema: JsonSchema): string {
  return `When you are done, end with a last message that is nothing but JSON (no prose, no code fence) that satisfies this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** The longest value that ends where the last bracket closes. */
function lastIn(text: string): Json | undefined {
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (end < 0) return undefined;
  const open = text[end] === '}' ? '{' : '[';
  let found: Json | undefined;
  let from = end;
  for (let tries = 0; tries < TRIES_MAX && from > 0; tries += 1) {
    from = text.lastIndexOf(open, from - 1);
    if (from < 0) break;
    found = parsed(text.slice(from, end + 1)) ?? found;
  }
  return found;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
