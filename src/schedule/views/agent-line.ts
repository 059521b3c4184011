/** What an agent does, as a line for people. Pure. */
import { cutText } from '../../base/cut-text.ts';
import type { AgentEvent } from '../../contract/model.ts';
import { sayAnswer } from '../../contract/question.ts';
import type { Json } from '../../contract/workflow.ts';

const INPUT_CHARS_MAX = 200;
const RESULT_CHARS_MAX = 300;
const RESULT_LINES_MAX = 2;
const PATHS_MAX = 3;
const TOLD: ReadonlySet<AgentEvent['kind']> = new Set([
  'text',
  'tool-call',
  'file-changed',
  'asked',
  'error',
]);
/** The fields that say what a tool call is about; the first that it has. */
const TELLING = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
];

/** Whether there is something to show: it takes a while to put it into words. */
export function hasAgentLine(event: AgentEvent): boolean {
  return event.kind === 'tool-result' ? event.isError : TOLD.has(event.kind);
}

/** Undefined where there is nothing to show. */
export function agentLine(event: AgentEvent): string | undefined {
  switch (event.kind) {
    case 'text':
      return withinWorkspace(event.text);
    case 'tool-call':
      return `→ ${event.name} ${shortInput(event.input)}`.trimEnd();
    case 'tool-result':
      return event.isError ? `✗ ${shortResult(event.text)}` : undefined;
    case 'file-changed':
      return `changed ${event.path}`;
    case 'asked':
      return `asked: ${oneLine(event.text)} (${sayAnswer(event)})`;
    case 'error':
      return `${event.error.kind}: ${event.error.message}`;
    default:
      return undefined;
  }
}

/** Agents know their workspace by its whole path; people need none of it. */
export function withinWorkspace(text: string): string {
  return text.replace(
    /(?<=^|[\s"'`(=:[,])(?:\/bosun\/workspace|\/[^\s"'`]*?\/(?:\.bosun|bosun\/sandbox)\/workspaces\/[^\s"'`/]+)(?![\w.-])(\/(?=[^\s"'`]))?/g,
    (_, inside?: string) => (inside === undefined ? '.' : ''),
  );
}

function shortInput(input: string): string {
  const [first = '', ...more] = withinWorkspace(told(input)).trim().split('\n');
  return cutText(more.length > 0 ? `${first} …` : first, INPUT_CHARS_MAX);
}

/** What it is about, out of its JSON; a plain command is told as it is. */
function told(input: string): string {
  const patched = [...input.matchAll(/\*\*\* (?:Add|Update|Delete) File: (.+?)(?:\\n|\n|"|$)/g)];
  if (patched.length > 0)
    return patched
      .slice(0, PATHS_MAX)
      .map(([, file]) => file)
      .join(', ');
  if (!/^[[{]/.test(input)) return input;
  let value: Json;
  try {
    value = JSON.parse(input) as Json;
  } catch {
    return tornField(input); // it was too long to be kept whole
  }
  if (Array.isArray(value)) return value.slice(0, PATHS_MAX).map(namedIn).filter(Boolean).join(', ') || input;
  return namedIn(value) || input.slice(1, -1);
}

function namedIn(value: Json): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  for (const field of TELLING) {
    const found = value[field];
    if (typeof found === 'string' && found !== '') return found;
    if (Array.isArray(found) && found.length > 0) return found.map(wordOf).join(' ');
  }
  return '';
}

function wordOf(word: Json): string {
  return typeof word === 'string' ? word : JSON.stringify(word);
}

function tornField(input: string): string {
  for (const field of TELLING) {
    const found = new RegExp(`"${field}":"((?:[^"\\\\]|\\\\.)*)`).exec(input)?.[1];
    if (found) return found.replaceAll('\\n', '\n').replaceAll(/\\(.)/g, '$1');
  }
  return input.slice(1);
}

function shortResult(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return cutText(withinWorkspace(lines.slice(0, RESULT_LINES_MAX).join(' · ')), RESULT_CHARS_MAX);
}

function oneLine(text: string): string {
  return withinWorkspace(text).replaceAll('\n', ' ');
}
