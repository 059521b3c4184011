/** What a row of the table of tools is: what a tool takes and answers, and how a command is typed for it. It knows no tool. */

/** JSON Schema, as far as it is needed here: a model reads it, and the socket holds calls to it. */
export interface ToolSchema {
  type: 'object';
  /** In the order in which the command takes them, but for its options; a list takes all words that are left. */
  properties: Readonly<Record<string, ToolField>>;
  required?: readonly string[];
}
export type ToolField =
  | Text
  | { type: 'array'; items: Text; minItems?: number; maxItems: number; description?: string }
  | { type: 'boolean'; description?: string }
  | { type: 'number'; minimum: number; maximum: number; description?: string }
  /** Any JSON object; for the command, its text. */
  | { type: 'object'; description?: string }
  /** Any JSON; for the command, its text, and a text where that is no JSON. */
  | { type?: undefined; description?: string };
interface Text {
  type: 'string';
  enum?: readonly string[];
  maxLength?: number;
  description?: string;
}

export interface CrewTool<Input extends ToolSchema = ToolSchema, Answer = never> {
  /** For a model. */
  description: string;
  input: Input;
  command: {
    verb: string;
    /** What follows the verb. */
    usage: string;
    /** Fields that are options, by name: with <value> where they take one, and what they are for. */
    options?: Readonly<Record<string, readonly [flags: string, about: string]>>;
    /** Fields of seconds that the command takes as durations too, such as 30s and 5m. */
    durations?: readonly string[];
    /** The field that takes all words that are left, as one text. */
    rest?: string;
    /** An option that fills a field with the text of a file, which the command reads itself. */
    fromFile?: { field: string; option: readonly [flags: string, about: string] };
    /** Where no words are given, they are read from stdin. */
    readsStdin?: true;
    /** Words that one could type after the verb, and why. */
    example: readonly [typed: string, why: string];
  };
  /** The answer for people and models, a line for each thing in it. */
  say(answer: Answer): string[];
  /** What a model reads where that is no line at all. */
  nothing?: string;
  /** Whether the command ends with 0; otherwise with 1. */
  isYes?(answer: Answer): boolean;
}

/** Infers the types of what goes in and comes out. */
export function tool<const Input extends ToolSchema, Answer>(
  row: CrewTool<Input, Answer>,
): CrewTool<Input, Answer> {
  return row;
}
