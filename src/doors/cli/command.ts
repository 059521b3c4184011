/** What a command of the CLI is: its words for people, and where its code lies. */
import type { OperationName } from '../../contract/operations.ts';

export interface Command {
  name: string;
  group: 'Start' | 'Look' | 'Decide' | 'Serve' | 'Keep';
  summary: string;
  /** What it asks of bosun. Arguments and options go to the fields of the same names, in camel case. */
  asks: readonly OperationName[];
  arguments?: Argument[];
  options?: Option[];
  /** What follows `bosun `, and why one would type it. */
  examples: [typed: string, why: string][];
  /** What a person may want to know beyond the options. */
  notes?: string;
  /** Loaded only when asked for: a short command must not wait for the code of the others. */
  load(): Promise<{ run: Run }>;
}

export interface Argument {
  name: string;
  about: string;
  required?: boolean;
  /** Takes all that is left. */
  many?: boolean;
  choices?: readonly string[];
  /** What completion offers. */
  complete?: 'run' | 'task' | 'file';
}

export interface Option {
  /** `--json`, or `-f, --follow`, with `<value>` where it takes one. */
  flags: string;
  about: string;
  /** May be given several times; the values are a list. */
  repeat?: boolean;
  choices?: readonly string[];
  /** Without one of these it says nothing: options as `--name`, or values of the first argument. */
  needs?: readonly string[];
  /** What it cannot be used with, written as in `needs`. */
  not?: readonly string[];
}

/** What was typed, by the names of the table. */
export interface Typed {
  command: Command;
  args: string[];
  options: Record<string, string | string[] | boolean | undefined>;
  /** Whether `--` was there: all arguments after it are somebody else's words. */
  hasDashes: boolean;
}

/** Resolves with the exit code. */
type Run = (typed: Typed) => Promise<number>;

/** The text of an option that takes a value. */
export function optionText(typed: Typed, name: string): string | undefined {
  const value = typed.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function isOn(typed: Typed, name: string): boolean {
  return typed.options[name] === true;
}

/** An object with the key only where there is a value. */
export function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
