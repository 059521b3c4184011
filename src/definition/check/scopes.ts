/** Checks what agents and tasks may see, write, reach and use: that each line of it means something. It reads no file. */
import { normalizeGlob, parseGlob, type Glob } from '../../base/glob-syntax.ts';
import { covers } from '../../base/globs.ts';
import { parseSizeBytes } from '../../base/units.ts';
import type { Agent, Limits, Scope, Task, Workflow, WorkspaceOptions } from '../../contract/workflow.ts';
import { isTemplate } from '../../schedule/workflow/glob-template.ts';
import { hasTemplate } from '../../schedule/workflow/item-fields.ts';
import { effectiveScope } from '../../schedule/workflow/scope-of.ts';
import { checkItems } from './items.ts';
import { hostProblem } from './hosts.ts';
import { GlobIndex } from './glob-index.ts';
import { describe, type Path, type Problem } from '../source/problem.ts';

const ENTRIES_MAX = 2000;
const PATH_CHARS_MAX = 4000;
const COMPARISONS_MAX = 500_000;
const MB = 1024 ** 2;
const TB = 1024 ** 4;

export function checkScopes(workflow: Workflow): Problem[] {
  const owners: [Path, Pick<Agent, 'scope' | 'limits'>][] = Object.entries(workflow.agents).map(
    ([name, agent]) => [['agents', name], agent],
  );
  const tasks = Object.entries(workflow.tasks);
  const itemProblems: Problem[] = [];
  for (const [name, task] of tasks) {
    if (typeof task.agent === 'object') owners.push([['tasks', name, 'agent'], task.agent]);
    if (hasTemplate(task)) itemProblems.push(...checkItems(name, task));
    owners.push([['tasks', name], task]);
  }
  return [
    ...owners.flatMap(([path, { scope, limits }]) => [
      ...(scope ? checkScope(scope, [...path, 'scope']) : []),
      ...(limits ? checkLimits(limits, [...path, 'limits']) : []),
    ]),
    ...itemProblems,
    ...checkReplaced(workflow),
    ...checkWorkspace(workflow.workspace, ['workspace']),
    ...tasks.flatMap(([name, { workspace, artifacts = [] }]) => [
      ...checkWorkspace(workspace, ['tasks', name, 'workspace']),
      ...checkGlobs(artifacts, ['tasks', name, 'artifacts']),
    ]),
  ];
}

/** Scopes that are partly of the task and partly of its agent: each may be right, and both together wrong. */
function checkReplaced(workflow: Workflow): Problem[] {
  const seen = new Set<string>();
  return Object.entries(workflow.tasks).flatMap(([name, task]) => {
    const { write, shared, hide } = task.scope ?? {};
    if ((write ?? shared ?? hide) === undefined) return [];
    for (const agent of agentsOf(task, workflow)) {
      const scope = effectiveScope(task, agent);
      const key = JSON.stringify([scope.write, scope.shared, scope.hide]);
      const isTold =
        seen.has(key) || [task, agent].some((one) => checkHidden(one.scope ?? {}, []).length > 0);
      seen.add(key);
      const [problem] = isTold ? [] : checkHidden(scope, []);
      if (!problem) continue;
      const message = `the scope of task "${name}", together with that of its agent: ${problem.message}`;
      return [{ path: ['tasks', name, 'scope'], atKey: true, message }];
    }
    return [];
  });
}

function agentsOf(task: Task, workflow: Workflow): Agent[] {
  if (typeof task.agent === 'object') return [task.agent];
  const names = [
    ...(task.agent === undefined ? [] : [task.agent]),
    ...(task.handoff ?? []),
    ...(Array.isArray(task.race) ? task.race : []),
  ];
  return names.flatMap((name) => (Object.hasOwn(workflow.agents, name) ? [workflow.agents[name]!] : []));
}

function checkGlobs(globs: readonly string[], path: Path): Problem[] {
  return globs.flatMap((glob, n) => {
    const problem =
      n >= ENTRIES_MAX
        ? `is one of more than ${ENTRIES_MAX}; name directories instead of files`
        : globProblem(glob);
    return problem === undefined
      ? []
      : [{ path: [...path, n], message: `"${glob}" in ${describe(path)} ${problem}` }];
  });
}

function checkWorkspace(options: WorkspaceOptions | undefined, path: Path): Problem[] {
  if (options === undefined || options === 'none') return [];
  return [...checkGlobs(options.copy ?? [], [...path, 'copy']), ...checkSetupHosts(options, path)];
}

function checkSetupHosts(options: Exclude<WorkspaceOptions, 'none'>, path: Path): Problem[] {
  if (!options.network) return [];
  const at = [...path, 'network'];
  if (options.setup === undefined) {
    const message = `${describe(at)} works only with "setup", whose hosts it names; remove it, or name the hosts of agents in "scope"`;
    return [{ path: at, atKey: true, message }];
  }
  return options.network.flatMap((entry, n) => {
    const problem = n < ENTRIES_MAX ? hostProblem(entry) : `is one of more than ${ENTRIES_MAX}; use fewer`;
    if (problem === undefined) return [];
    return [{ path: [...at, n], message: `"${entry}" in ${describe(at)} ${problem}` }];
  });
}

function checkScope(scope: Scope, path: Path): Problem[] {
  const { write = [], shared = [], hide = [], read = [], network = [] } = scope;
  const grant = Array.isArray(scope.grant) ? scope.grant : [];
  const count = write.length + shared.length + hide.length + read.length + network.length + grant.length;
  if (count > ENTRIES_MAX) {
    const message = `${describe(path)} has ${count} globs, paths and hosts; at most ${ENTRIES_MAX} are allowed: name directories (src/**) instead of files`;
    return [{ path, atKey: true, message }];
  }
  const each = (
    field: keyof Scope,
    entries: readonly string[],
    check: (entry: string) => string | undefined,
  ) =>
    entries.flatMap((entry, n): Problem[] => {
      const problem = check(entry);
      if (problem === undefined) return [];
      return [
        { path: [...path, field, n], message: `"${entry}" in ${describe([...path, field])} ${problem}` },
      ];
    });
  return [
    ...each('write', write, globProblem),
    ...each('shared', shared, globProblem),
    ...each('hide', hide, globProblem),
    ...each('grant', grant, globProblem),
    ...each('read', read, readProblem),
    ...each('network', network, hostProblem),
    ...checkHidden(scope, path),
  ];
}

/** Where an expression is part of a glob, it is checked once it is filled in. */
function globProblem(glob: string): string | undefined {
  if (isTemplate(glob)) return undefined;
  const normalized = normalizeGlob(glob);
  return 'problem' in normalized ? normalized.problem : undefined;
}

/** These are paths and no globs: each becomes one mount. */
export function readProblem(entry: string): string | undefined {
  if (entry === '') return 'is empty; write a path or remove it';
  if (entry.length > PATH_CHARS_MAX) return `is longer than ${PATH_CHARS_MAX} characters; shorten it`;
  if (entry.includes('\0')) return 'holds a NUL, which no path can';
  if (entry.split('/').includes('..'))
    return 'holds ".."; write a path from the top of the repository, an absolute one, or one that begins with "~/"';
  if (/^~[^/]/.test(entry)) return 'is the home of somebody else; write its absolute path';
  if (/^\/[/.]*$/.test(entry)) return 'is the whole machine; name the directories that are needed';
  if (/[*?[{]/.test(entry)) return 'holds a wildcard, but "read" takes paths; name the directory';
  return undefined;
}

/** An agent cannot change what it cannot see. To hide a part of what it may change is fine. */
function checkHidden({ write = [], shared = [], hide = [] }: Scope, path: Path): Problem[] {
  const index = new GlobIndex<Glob>();
  const parsed = (globs: readonly string[]): [number, Glob][] =>
    [...globs.entries()].flatMap(([n, glob]) =>
      !isTemplate(glob) && globProblem(glob) === undefined ? [[n, parseGlob(glob)] as [number, Glob]] : [],
    );
  for (const [, glob] of parsed(hide)) index.add(glob, glob);
  let comparisonsLeft = COMPARISONS_MAX;
  const problems: Problem[] = [];
  for (const [field, globs] of [
    ['write', write],
    ['shared', shared],
  ] as const) {
    for (const [n, glob] of parsed(globs)) {
      for (const hidden of index.near(glob)) {
        if (--comparisonsLeft < 0) {
          const message = `${describe(path)} has too many globs in "write" and "hide" to compare; begin them with a directory, or use fewer`;
          return [{ path, atKey: true, message }];
        }
        if (!covers(hidden, glob)) continue;
        const message = `"${glob.text}" in ${describe([...path, field])} lies in what "${hidden.text}" in "hide" hides, and what is hidden cannot be changed; remove one of them, or hide less`;
        problems.push({ path: [...path, field, n], message });
        break;
      }
    }
  }
  return problems;
}

interface Bounds {
  least: number;
  most: number;
  /** Both, as a person would write them. */
  shown: [least: string, most: string];
}

const SIZES: Partial<Record<keyof Limits, Bounds>> = {
  memory: { least: 16 * MB, most: 16 * TB, shown: ['16MB', '16TB'] },
  disk: { least: MB, most: 1024 * TB, shown: ['1MB', '1024TB'] },
};
const COUNTS: Partial<Record<keyof Limits, Bounds>> = {
  processes: { least: 1, most: 4_000_000, shown: ['1', '4000000'] },
  cpu: { least: 0.01, most: 1024, shown: ['0.01', '1024'] },
  files: { least: 16, most: 1_048_576, shown: ['16', '1048576'] },
  // Timers hold no more than 24.8 days.
  minutes: { least: 0, most: 35_000, shown: ['0', '35000'] },
};

function checkLimits(limits: Limits, path: Path): Problem[] {
  const problems: Problem[] = [];
  const check = (field: keyof Limits, { least, most, shown }: Bounds, value: number): void => {
    const at = [...path, field];
    const written = limits[field];
    const bytes = field in SIZES && typeof written === 'number' && written > 0 ? ' bytes' : '';
    const way = value < least ? `at least ${shown[0]}` : `at most ${shown[1]}`;
    if (value >= least && value <= most) return;
    const rest = bytes && value < least ? `; a unit is missing: ${written}MB?` : '; change it or remove it';
    problems.push({ path: at, message: `${describe(at)} must be ${way}, but is ${written}${bytes}${rest}` });
  };
  for (const [field, bounds] of Object.entries(SIZES) as [keyof Limits, Bounds][]) {
    const value = limits[field];
    if (value !== undefined) check(field, bounds, parseSizeBytes(value));
  }
  for (const [field, bounds] of Object.entries(COUNTS) as [keyof Limits, Bounds][]) {
    const value = limits[field];
    if (typeof value === 'number') check(field, bounds, value);
  }
  return problems;
}
