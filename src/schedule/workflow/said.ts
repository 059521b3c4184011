/** What a task gave, as words for another agent, cut to a length. Pure. */
import type { Json } from '../../contract/workflow.ts';
import type { Node, State } from '../state.ts';

export function outputOf(state: State, { output, outputRef }: Node): Json {
  return outputRef ? state.read(outputRef) : (output ?? null);
}

export function said(output: Json, charsMax = Infinity): string {
  return output === null || output === '' ? '(nothing)' : cutLines(textOf(output), charsMax);
}

export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export function cutLines(value: string, charsMax: number): string {
  return value.length <= charsMax
    ? value
    : `${value.slice(0, charsMax)}\n… (${value.length - charsMax} characters more)`;
}
