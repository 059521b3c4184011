/**
 * A file, or its text → checked Workflow. What is wrong is thrown as one error that tells all of it. A file that is
 * large, with all that it uses, is read in a thread: nobody else waits for it.
 */
import { basename, dirname, extname, resolve } from 'node:path';
import { registerHooks, type ResolveHookSync } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inThread, ThreadFailure } from '../base/in-thread.ts';
import { BosunError } from '../contract/errors.ts';
import type { Workflow } from '../contract/workflow.ts';
import { isBuilt } from './builder.ts';
import { warnAbout } from './check/check.ts';
import {
  define,
  defineText,
  FILES_MAX,
  TEXT_CHARS_MAX,
  TooMuchText,
  type Defined,
  type DefineOptions,
} from './define.ts';
import { formatPath, throwProblems, type Located, type Problem } from './source/problem.ts';
import type { UsersDefaults } from './users-defaults.ts';
import { readText, readTextWithin } from './source/read-text.ts';
import { realPath } from '../system/files/real-path.ts';
import { isWithin } from '../base/is-within.ts';

export interface LoadOptions {
  /** Where agents may be files: `.bosun/agents` and `.claude/agents`. */
  repository?: string;
  /** What a user's configuration gives agents that leave it open. */
  users?: UsersDefaults;
}

export interface Loaded {
  workflow: Workflow;
  warnings: string[];
  /** It took a thread to read: so should whatever looks at all of it. */
  isLarge: boolean;
}

/** Some 50 ms of work; to start a thread takes as long. */
const HERE_CHARS_MAX = 24 * 1024;
const LOAD_MS_MAX = 30_000;
const LOAD_MEMORY_MB_MAX = 1024;

/** Of the same kind as this file: TypeScript in a checkout, compiled in the package. */
const INDEX = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;
const MODULES = ['.ts', '.mts', '.js', '.mjs'];

/** To load it is to run it, in this process. */
export function isModule(path: string): boolean {
  return MODULES.includes(extname(path));
}

export async function loadWorkflow(path: string, options: LoadOptions = {}): Promise<Loaded> {
  if (isModule(path)) return loadModule(path, options);
  const { repository } = options;
  const isTheirs = repository !== undefined && isWithin(repository, resolve(path));
  const read = isTheirs ? readTextWithin(repository, path) : readText(path);
  if ('problem' in read)
    return throwProblems([{ path: '', message: `cannot read ${path}: ${read.problem}` }]);
  try {
    return parseWorkflow(read.text, path, options, HERE_CHARS_MAX);
  } catch (error) {
    if (!(error instanceof TooMuchText)) throw error;
    return loadApart({ text: read.text, file: path, options });
  }
}

/** `file` is what messages call the text; paths in it are relative to it. */
export function parseWorkflow(
  text: string,
  file: string,
  options: LoadOptions = {},
  charsMax = TEXT_CHARS_MAX,
): Loaded {
  return settle(defineText(text, file, surroundingsOf(file, options, charsMax)));
}

interface Question {
  text: string;
  file: string;
  options: LoadOptions;
}

const askThread = inThread(
  import.meta.url,
  { msMax: LOAD_MS_MAX, memoryMbMax: LOAD_MEMORY_MB_MAX },
  ({ text, file, options }: Question) => {
    try {
      return { loaded: { ...parseWorkflow(text, file, options), isLarge: true } };
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      return { wrong: error.message, data: error.data }; // what a thread throws loses all but its message
    }
  },
);

async function loadApart(question: Question): Promise<Loaded> {
  try {
    const answer = await askThread(question);
    if ('loaded' in answer) return answer.loaded;
    throw new BosunError('invalid-workflow', answer.wrong, { data: answer.data });
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    const message = `cannot be read: ${error.message}; split the work into several workflows`;
    return throwProblems([{ file: question.file, path: '', message }]);
  }
}

/** A module whose default export is a workflow: made by the builder, or the plain source of one. */
async function loadModule(path: string, options: LoadOptions): Promise<Loaded> {
  const fail = (message: string): never => throwProblems([{ file: path, path: '', message }]);
  let value: unknown;
  const hooks = registerHooks({ resolve: findOurselves });
  try {
    value = ((await import(pathToFileURL(resolve(path)).href)) as { default?: unknown }).default;
  } catch (error) {
    const told = problemsOf(error);
    if (told) return throwProblems(told.map((problem) => ({ ...problem, file: path })));
    return fail(`cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    hooks.deregister();
  }
  if (value === undefined) return fail('has no default export; write "export default workflow({ … })"');
  if (isBuilt(value)) {
    const warnings = warnAbout(value).map((warning) => `${path}: ${warning}`);
    return { workflow: value, warnings, isLarge: false };
  }
  if (typeof value !== 'object' || value === null) return fail('its default export is not a workflow');
  const { nested: _, ...source } = value as Record<string, unknown>;
  const locate = (problem: Problem) => ({
    file: path,
    path: formatPath(problem.path),
    message: problem.message,
  });
  return settle(define(source, locate, surroundingsOf(path, options)));
}

/** A repository need not have bosun among its packages: what it does not have is the one that runs. */
const findOurselves: ResolveHookSync = (specifier, context, next) => {
  try {
    return next(specifier, context);
  } catch (error) {
    if (specifier !== 'bosun' || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND')
      throw error;
    return { url: INDEX, shortCircuit: true };
  }
};

/** What the builder found, where the module calls it; it may come from another copy of this package. */
function problemsOf(error: unknown): Located[] | undefined {
  if (!(error instanceof Error) || error.name !== 'BosunError') return undefined;
  return (error as BosunError & { data?: { problems?: Located[] } }).data?.problems;
}

function surroundingsOf(file: string, options: LoadOptions, charsMax = TEXT_CHARS_MAX): DefineOptions {
  const full = resolve(file);
  return {
    directory: dirname(full),
    repository: options.repository,
    chain: [{ real: realPath(full), shown: file || basename(full) }],
    left: { files: FILES_MAX, chars: charsMax },
    users: options.users,
  };
}

function settle(defined: Defined): Loaded {
  if (!defined.workflow) return throwProblems(defined.problems);
  return { workflow: defined.workflow, warnings: defined.warnings, isLarge: false };
}
