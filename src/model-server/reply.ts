/** An answer of the script → the reply to one request: texts, and calls of the tools that it offers. */
import type { Tokens } from '../contract/model.ts';
import { callsOf } from './actions.ts';
import type { AskedModel, ContentPart, ScriptedReply } from './asked.ts';
import { fillSchema } from './fill-schema.ts';
import type { ScriptedAnswer } from './script.ts';

/** What an answer uses where the script says nothing. */
const USAGE: Tokens = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const HUGE_CHARS = 16 * 1024 * 1024;
const HARMLESS = 'Scripted';

/** Undefined where the answer needs a tool and the request offers none that could do it. */
export function replyTo(asked: AskedModel, answer: ScriptedAnswer, id: string): ScriptedReply | undefined {
  const calls = callsOf(answer, asked);
  if (!calls) return undefined;
  const parts: ContentPart[] = [];
  const text = textOf(answer, calls.length === 0);
  if (text !== undefined) parts.push({ kind: 'text', text });
  for (const [n, call] of calls.entries()) parts.push({ kind: 'call', id: `${id}_${n}`, ...call });
  const stop = answer.stop ?? (calls.length > 0 ? 'tools' : 'end');
  return { id, model: asked.model, parts, tokens: tokensOf(answer), stop };
}

/** To what the script is not about. It uses nothing, so that sums stay those of the script. */
export function harmlessReply(asked: AskedModel, id: string): ScriptedReply {
  const text = asked.format === undefined ? HARMLESS : JSON.stringify(fillSchema(asked.format));
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return { id, model: asked.model, parts: [{ kind: 'text', text }], tokens, stop: 'end' };
}

function textOf({ text, output, fault }: ScriptedAnswer, isAlone: boolean): string | undefined {
  if (fault === 'huge') return 'huge '.repeat(Math.ceil(HUGE_CHARS / 5));
  if (text !== undefined) return text;
  if (!isAlone) return undefined;
  return output === undefined ? 'Done.' : JSON.stringify(output);
}

function tokensOf({ usage = {} }: ScriptedAnswer): Tokens {
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    input: input ?? USAGE.input,
    output: output ?? USAGE.output,
    cacheRead: cacheRead ?? USAGE.cacheRead,
    cacheWrite: cacheWrite ?? USAGE.cacheWrite,
  };
}
