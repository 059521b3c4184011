/** Data → checked Workflow, with the files it uses and the agents it names. It runs no code of theirs. */
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { WorkflowFile, type Agent, type Workflow } from '../contract/workflow.ts';
import { readAgentFiles } from './agent-files.ts';
import { agentNames } from './check/agents.ts';
import { checkWorkflow, warnAbout } from './check/check.ts';
import { checkReads } from './check/reads.ts';
import { fillDefaults } from './defaults.ts';
import { fillUsersAgents, fillUsersTimeout, type UsersDefaults } from './users-defaults.ts';
import { checkWith } from './inputs.ts';
import type { Located, Path, Problem } from './source/problem.ts';
import { readText, readTextWithin } from './source/read-text.ts';
import { realPath } from '../system/files/real-path.ts';
import { isWithin } from '../base/is-within.ts';
import { salvage } from './source/salvage.ts';
import { schemaProblems } from './source/schema-problems.ts';
import { readSource } from './source/source.ts';

export interface DefineOptions {
  /** Where the paths of `uses` start. */
  directory: string;
  /** Where agents may be files. */
  repository: string | undefined;
  /** Nothing beyond it is read, also for what is no file itself. */
  within?: string | undefined;
  /** The files that led here, the first one first. */
  chain: { real: string; shown: string }[];
  /** How much more may be read: shared by all of one definition. */
  left: { files: number; chars: number };
  /** For agents that leave it open; what is built in a program says all of it. */
  users?: UsersDefaults | undefined;
}

export interface Defined {
  /** Absent where there are problems. */
  workflow?: Workflow;
  problems: Located[];
  warnings: string[];
}

type Locate = (problem: Problem) => Located;

const DEPTH_MAX = 10;
export const FILES_MAX = 200;
/** Of a workflow, all that it uses and the agents that are files. */
export const TEXT_CHARS_MAX = 16 * 1024 * 1024;

/** There is more to read than was allowed. */
export class TooMuchText extends BosunError {
  constructor() {
    super(
      'invalid-workflow',
      `the workflow holds more than ${TEXT_CHARS_MAX / 1024 / 1024} MB of text with all that it uses; use fewer or smaller files`,
    );
  }
}

export function define(written: unknown, find: Locate, options: DefineOptions): Defined {
  const { users = {} } = options;
  const { data: filled, agent, trace } = fillDefaults(written);
  const data = fillUsersAgents(filled, users);
  const locate: Locate = (problem) => find(trace(problem));
  const parsed = WorkflowFile.safeParse(data);
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error.issues, data, WorkflowFile);
    const rest = salvage(data, problems);
    const further = rest
      ? complete(
          rest.workflow,
          (problem) => (rest.isKnown(problem) ? undefined : locate(problem)),
          options,
          agent,
        )
      : [];
    return { problems: [...problems.map(locate), ...further], warnings: [] };
  }
  const workflow: Workflow = parsed.data;
  const problems = complete(workflow, locate, options, agent);
  if (problems.length > 0) return { problems, warnings: [] };
  fillUsersTimeout(workflow, users);
  for (const task of Object.values(workflow.tasks)) {
    if (task.needs.length > 1) task.needs = [...new Set(task.needs)];
  }
  return { workflow, problems, warnings: warnAbout(workflow) };
}

/** A file in YAML or JSON; its own problems bear its own name. */
export function defineText(text: string, shown: string, options: DefineOptions): Defined {
  spend(text, options.left);
  const source = readSource(text, shown);
  if (source.problems.length > 0) return { problems: source.problems, warnings: source.warnings };
  const defined = define(source.data, source.locate, options);
  const warnings = defined.warnings.map((warning) => `${shown}: ${warning}`);
  return { ...defined, warnings: [...source.warnings, ...warnings] };
}

/** Adds to the workflow what lies in other files, and checks the whole. */
function complete(
  workflow: Workflow,
  locate: (problem: Problem) => Located | undefined,
  options: DefineOptions,
  defaults: Partial<Agent>,
): Located[] {
  const problems = addAgents(workflow, options, defaults);
  const own: Problem[] = [];
  for (const [name, task] of Object.entries(workflow.tasks)) {
    if (task.uses === undefined || task.uses.includes('${{')) continue;
    const path: Path = ['tasks', name, 'uses'];
    if (!Object.hasOwn(workflow.nested ?? {}, task.uses)) {
      const nested = use(task.uses, path, options);
      if ('message' in nested) own.push(nested);
      else {
        problems.push(...nested.problems);
        if (nested.workflow) (workflow.nested ??= {})[task.uses] = nested.workflow;
      }
    }
    const nested = workflow.nested?.[task.uses];
    if (nested) own.push(...checkWith(task.with ?? {}, ['tasks', name], nested, task.uses));
  }
  // Last: what the used workflows own counts too.
  const { repository } = options;
  const reads = repository === undefined ? [] : checkReads(workflow, repository);
  const all = [...checkWorkflow(workflow), ...reads, ...own];
  return [...all.flatMap((problem) => locate(problem) ?? []), ...problems];
}

/** Agents that the workflow names and does not define may be files of the repository. */
function addAgents(workflow: Workflow, options: DefineOptions, defaults: Partial<Agent>): Located[] {
  const { repository, left, users = {} } = options;
  if (repository === undefined) return [];
  const missing = agentNames(workflow).filter(({ name }) => !Object.hasOwn(workflow.agents, name));
  if (missing.length === 0) return [];
  const files = readAgentFiles(repository, users, (text) => spend(text, left));
  const problems: Located[] = [];
  for (const name of new Set(missing.map((use) => use.name))) {
    const file = files.get(name);
    if (!file) continue;
    workflow.agents[name] = { ...defaults, ...file.agent };
    problems.push(...file.problems);
  }
  return problems;
}

function use(uses: string, path: Path, options: DefineOptions): Defined | Problem {
  const { chain, left, directory, repository, users, within } = options;
  const problem = (message: string): Problem => ({ path, message });
  if (isAbsolute(uses)) {
    return problem(
      `"${uses}" is an absolute path, which exists on one machine only; write it relative to this file`,
    );
  }
  if (!['.yaml', '.yml', '.json'].includes(extname(uses))) {
    return problem(`"${uses}" is not a workflow file; "uses" takes a .yaml, .yml or .json file`);
  }
  const full = resolve(directory, uses);
  const real = realPath(full);
  const shown = join(dirname(chain.at(-1)?.shown ?? ''), uses);
  const before = chain.findIndex((file) => file.real === real);
  if (before !== -1) {
    const way = [...chain.slice(before).map((file) => file.shown), shown].join(' → ');
    return problem(`files use each other in a circle: ${way}; remove one of these uses`);
  }
  if (chain.length > DEPTH_MAX)
    return problem(`files use each other more than ${DEPTH_MAX} levels deep; make it flatter`);
  if (--left.files < 0) return problem(`more than ${FILES_MAX} files are used in all; use fewer`);
  // What a file of the repository uses lies there too; what a person named elsewhere may use what lies beside it.
  const isTheirs = repository !== undefined && isWithin(realPath(repository), chain[0]?.real ?? full);
  const top = within ?? (isTheirs ? repository : undefined);
  const read = top === undefined ? readText(full) : readTextWithin(top, full);
  if ('problem' in read) return problem(`cannot read "${uses}": ${read.problem}`);
  const inner = {
    directory: dirname(full),
    repository,
    chain: [...chain, { real, shown }],
    left,
    users,
    within,
  };
  return defineText(read.text, shown, inner);
}

function spend(text: string, left: DefineOptions['left']): void {
  left.chars -= text.length;
  if (left.chars < 0) throw new TooMuchText();
}
