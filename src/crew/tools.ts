/**
 * The tools of the crew: what an agent can ask of us. This table is the one place that says what each is called,
 * takes, answers and how that reads; the socket, `bosun agent mcp` and `bosun agent <verb>` follow it. It does
 * nothing itself, and imports nothing that takes time to load: the tool server starts with every agent.
 */
import type { AccessAnswer, OwnerSaid, PendingAccess } from '../contract/access.ts';

/** JSON Schema, as far as it is needed here: a model reads it, and the socket holds calls to it. */
interface InputSchema {
  type: 'object';
  /** In the order in which the command takes them; a list takes all words that are left. */
  properties: Readonly<Record<string, Field>>;
  required?: readonly string[];
}
type Field = Text | { type: 'array'; items: Text; minItems?: number; maxItems: number; description?: string };
interface Text {
  type: 'string';
  enum?: readonly string[];
  maxLength?: number;
  description?: string;
}

export interface CrewTool<Input extends InputSchema = InputSchema, Answer = never> {
  /** For a model. */
  description: string;
  input: Input;
  /** Of no use to an agent that may write everything: no server is started with it for such tools alone. */
  needsWriteScope?: boolean;
  command: {
    verb: string;
    /** What follows the verb. */
    usage: string;
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

/** A call, and what it is answered. */
export const REQUEST_BYTES_MAX = 64 * 1024;
export const ANSWER_BYTES_MAX = 1024 * 1024;
/** Of one attempt at once: calls, and connections. */
export const CALLS_MAX = 16;
/** Globs of one request. */
const GLOBS_MAX = 50;
const ID_CHARS_MAX = 1000;

export const TOOLS = {
  request_access: tool({
    description:
      'Asks for permission to change files outside of your scope. You can read the whole repository, but you may ' +
      'write only some of it: where a write fails with "Permission denied" or "Read-only file system" and your ' +
      'task needs that change, ask here, and do not look for a way around. The answer may take minutes, since a ' +
      'person or another agent may be asked. Where it is granted you can write at once, in this very session. ' +
      'Where it is refused, go on without: do what you can within your scope and say what you could not do.',
    input: {
      type: 'object',
      properties: {
        paths: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          maxItems: GLOBS_MAX,
          description:
            'Files, or globs such as src/api/**, relative to the top of the repository. Name all that you will change and no more: what you change beside it is left out of your result.',
        },
      },
      required: ['paths'],
    },
    needsWriteScope: true,
    command: {
      verb: 'request-access',
      usage: '<glob>...',
      example: ["'src/api/**'", 'may I change these files? Exit code 0: yes, 1: no'],
    },
    say: ({ granted, globs, why }: AccessAnswer) => [
      `${granted ? 'granted' : 'refused'}: ${globs.join(' ')} (${why})`,
    ],
    isYes: ({ granted }) => granted,
  }),

  inbox: tool({
    description:
      'Lists what other agents ask of you: they want to change files that your task owns, and wait for your answer. ' +
      'Look here between the steps of your work, and answer each with answer_access.',
    input: { type: 'object', properties: {} },
    needsWriteScope: true,
    command: { verb: 'inbox', usage: '', example: ['', 'what others ask of you, because you own it'] },
    say: ({ requests }: { requests: PendingAccess[] }) =>
      requests.map(({ id, task, globs }) => `${id} ${task} asks for ${globs.join(' ')}`),
    nothing: 'nobody asks',
  }),

  answer_access: tool({
    description:
      'Answers a request of your inbox. Say yes where the other agent may change these files now, and no where it ' +
      'would get into the way of your own changes.',
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          maxLength: ID_CHARS_MAX,
          description: 'As inbox says it, such as implement+1.',
        },
        answer: { type: 'string', enum: ['yes', 'no'] },
      },
      required: ['id', 'answer'],
    },
    needsWriteScope: true,
    command: { verb: 'answer', usage: '<id> yes|no', example: ['implement+1 yes', 'let them'] },
    say: ({ accepted, why }: OwnerSaid) => [`${accepted ? 'answered' : 'not answered'}: ${why}`],
    isYes: ({ accepted }) => accepted,
  }),
};

export type ToolName = keyof typeof TOOLS;
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

/** What does the work behind the table: a function for each tool, for one attempt. */
export type CrewTools = {
  [Name in ToolName]: (input: InputOf<Name>) => Promise<AnswerOf<Name>>;
};

type InputOf<Name extends ToolName> = ValueOf<(typeof TOOLS)[Name]['input']>;
type AnswerOf<Name extends ToolName> = Parameters<(typeof TOOLS)[Name]['say']>[0];
type ValueOf<Schema> = Schema extends { properties: infer Fields; required?: infer Required }
  ? {
      [Key in keyof Fields as Key extends ItemOf<Required> ? Key : never]: FieldValue<Fields[Key]>;
    } & { [Key in keyof Fields as Key extends ItemOf<Required> ? never : Key]?: FieldValue<Fields[Key]> }
  : never;
type FieldValue<Of> = Of extends { type: 'array' }
  ? string[]
  : Of extends { enum: readonly (infer Choice)[] }
    ? Choice
    : string;
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** Infers the types of what goes in and comes out. */
function tool<const Input extends InputSchema, Answer>(
  row: CrewTool<Input, Answer>,
): CrewTool<Input, Answer> {
  return row;
}

/** The row as one that takes any answer: what the engine says fits the row it was asked for. */
export function rowOf(name: ToolName): CrewTool<InputSchema, unknown> {
  return TOOLS[name];
}

/** What others said must not look like a line of ours. */
export function linesOf(name: ToolName, answer: unknown): string[] {
  return rowOf(name)
    .say(answer)
    .map((line) => line.replaceAll(/\p{C}+/gu, ' '));
}

/** What one types after `bosun agent`, for each tool. */
export function usages(): string[] {
  return TOOL_NAMES.map((name) => {
    const { verb, usage } = rowOf(name).command;
    return `${verb} ${usage}`.trim();
  });
}

/** Whole commands, for people who ask for help. */
export function examples(): [typed: string, why: string][] {
  return TOOL_NAMES.map((name) => {
    const { verb, example } = rowOf(name).command;
    return [`agent ${verb} ${example[0]}`.trim(), example[1]];
  });
}

/** The words of the command as the tool's input, in the order of its fields; undefined where they do not fit. */
export function inputOf(name: ToolName, words: readonly string[]): Record<string, unknown> | undefined {
  const { properties, required = [] } = rowOf(name).input;
  const left = [...words];
  const input: Record<string, unknown> = {};
  for (const [field, { type, ...rules }] of Object.entries(properties)) {
    const value = type === 'array' ? left.splice(0) : left.shift();
    const isGiven = value !== undefined && value.length > 0;
    if (!isGiven && required.includes(field)) return undefined;
    if (isGiven && 'enum' in rules && !rules.enum?.includes(value as string)) return undefined;
    if (isGiven) input[field] = value;
  }
  return left.length > 0 ? undefined : input;
}
