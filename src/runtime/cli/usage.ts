/** What a command says it used, read from what it printed as its workflow tells. What is not there is not claimed. */
import { parseJson } from '../../base/parse-json.ts';
import { compilePattern, PatternError } from '../../base/pattern.ts';
import type { AgentEvent } from '../../contract/model.ts';
import type { Agent, Json } from '../../contract/workflow.ts';
import type { CommandEnd } from '../agent/command.ts';

type Rules = NonNullable<Agent['usage']>;

export function usagePrinted(
  rules: Rules,
  ended: CommandEnd,
): Extract<AgentEvent, { kind: 'usage' }> | undefined {
  const texts = [ended.stdoutTail, ended.stderrTail];
  const find = (rule: string | undefined): number | undefined =>
    rule === undefined
      ? undefined
      : texts.map((text) => numberIn(rule, text)).find((found) => found !== undefined);
  const [input, output, usd] = [find(rules['input-tokens']), find(rules['output-tokens']), find(rules.usd)];
  if (input === undefined && output === undefined && usd === undefined) return undefined;
  const tokens = { input: input ?? 0, output: output ?? 0, cacheRead: 0, cacheWrite: 0 };
  return { kind: 'usage', tokens, ...(usd !== undefined && { usd }) };
}

/** The last one, since what is printed last counts all. */
function numberIn(rule: string, text: string): number | undefined {
  const found = rule.startsWith('$.') ? atPath(rule, text) : groupIn(rule, text);
  const number = typeof found === 'string' ? Number(found.replaceAll(',', '')) : found;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** A pattern that takes too long on this text finds nothing. */
function groupIn(rule: string, text: string): string | undefined {
  try {
    return compilePattern(rule, 'm').lastGroup(text);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

/** In all of the text as JSON, else in the last line that has the path. */
function atPath(rule: string, text: string): Json | undefined {
  const steps = rule
    .slice(2)
    .split(/[.[\]]+/)
    .filter(Boolean);
  for (const candidate of [text, ...text.trimEnd().split('\n').toReversed()]) {
    let value = parseJson(candidate);
    for (const step of steps) value = isKeyed(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A list has its numbers for keys. */
function isKeyed(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
