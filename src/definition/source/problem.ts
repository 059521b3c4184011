/** What is wrong with a definition, where, and how that is told. It finds nothing wrong itself. */
import { BosunError } from '../../contract/errors.ts';

export type Path = readonly (string | number)[];

/** Something wrong at a place in the data. */
export interface Problem {
  path: Path;
  message: string;
  /** Point at the field's name and not at its value. */
  atKey?: boolean;
  /** Point at this text within the value, where it is written like that. */
  find?: string;
}

/** The same, at a place that a person can go to. */
export interface Located {
  /** Absent for a workflow built in TypeScript. */
  file?: string;
  line?: number;
  column?: number;
  /** Such as `tasks.design.needs[0]`. */
  path: string;
  message: string;
  /** The line in question, and a line of carets below it. */
  excerpt?: string;
}

const PROBLEMS_SHOWN_MAX = 20;
/** To find what was meant takes a look at all names; so many problems of a kind get it, and a few are shown. */
export const SUGGESTIONS_MAX = 50;
const EXCERPT_CHARS_MAX = 100;
/** A file must not be able to drive the terminal that shows it. */
export const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** Throws all of them in one error, file by file, in the order of the text. */
export function throwProblems(problems: readonly Located[]): never {
  const files = [...new Set(problems.map((problem) => problem.file))];
  // What several tasks take from one place is wrong once.
  const unique = [...new Map(problems.map((each) => [JSON.stringify(each), each])).values()];
  const sorted = unique.sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
  const shown = sorted
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map((problem) => ({ ...problem, message: problem.message.replaceAll(CONTROL_CHARACTERS, ' ') }));
  const lines = shown.map(formatProblem);
  const left = sorted.length - shown.length;
  if (left > 0) lines.push(`… and ${left} more ${left === 1 ? 'problem' : 'problems'}`);
  throw new BosunError('invalid-workflow', lines.join('\n'), {
    data: {
      problems: shown.map(({ file, line, column, path, message }) => ({ file, line, column, path, message })),
    },
  });
}

function formatProblem(problem: Located): string {
  const { file, line, column, path, message, excerpt } = problem;
  const place = line === undefined ? [file, path].filter(Boolean).join(': ') : `${file}:${line}:${column}`;
  return `${place ? `${place}: ` : ''}${message}${excerpt === undefined ? '' : `\n${excerpt}`}`;
}

/** `   12 |     promt: …` and the carets; a long line is cut around the place. */
export function formatExcerpt(text: string, line: number, column: number, length: number): string {
  const start = text.length <= EXCERPT_CHARS_MAX ? 0 : Math.max(0, column - 1 - EXCERPT_CHARS_MAX / 2);
  const cut = text.slice(start, start + EXCERPT_CHARS_MAX).replaceAll(CONTROL_CHARACTERS, ' ');
  const before = start > 0 ? '…' : '';
  const after = text.length > start + EXCERPT_CHARS_MAX ? '…' : '';
  const offset = column - 1 - start + before.length;
  const carets = Math.max(1, Math.min(length, before.length + cut.length - offset));
  const indent = ' '.repeat(6);
  return `${String(line).padStart(5)} | ${before}${cut}${after}\n${indent}| ${' '.repeat(offset)}${'^'.repeat(carets)}`;
}

/** `tasks.design.needs[0]` */
export function formatPath(path: Path): string {
  return path
    .map((part, n) => (typeof part === 'number' ? `[${part}]` : n === 0 ? part : `.${part}`))
    .join('');
}

const ENTITIES: Record<string, string> = { tasks: 'task', agents: 'agent', inputs: 'input' };

/** What a path leads to, in words: `task "design"`, `"needs[0]" of task "design"`, `"budget.usd"`. */
export function describe(path: Path): string {
  const entity = ENTITIES[String(path[0])];
  if (entity !== undefined && path.length >= 2) {
    const owner = `${entity} "${path[1]}"`;
    return path.length === 2 ? owner : `"${formatPath(path.slice(2))}" of ${owner}`;
  }
  return path.length === 0 ? 'the workflow' : `"${formatPath(path)}"`;
}
