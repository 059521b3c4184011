/** Holds what a run demands against what this machine can hold. It fails closed, before anything is started. */
import { release } from 'node:os';
import path from 'node:path';
import { remedyIn } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import type { HeldLimits, Isolation } from '../contract/isolation.ts';
import type { Agent, Workflow } from '../contract/workflow.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import type { Home } from '../store/home.ts';
import type { Sandbox } from '../sandbox/choose.ts';
import { canWiden } from '../sandbox/linux/grant.ts';

const LIMIT_NAMES = {
  memory: 'memory',
  processes: 'processes',
  cpu: 'cpu',
  disk: 'disk',
  files: 'open files',
} as const satisfies Record<string, keyof HeldLimits>;

/** Memory of the kernel that no process shows; only a cgroup knows of it. */
const UNCOUNTED =
  'shared memory that is not mapped any more, and what the kernel keeps for mappings, locks, timers, epoll and inotify';

/** What holds, to be written down; throws where that is less than is required. `source` is the workflow's file. */
export function checkIsolation(
  { home, sandbox, canGrant = canWiden }: { home: Home; sandbox: Sandbox; canGrant?: boolean },
  workflow: Workflow,
  source: string,
): Isolation {
  const demands = demandsOf(home, workflow, source);
  const unheld = unheldLimits(workflow, sandbox);
  if (sandbox.unexplained !== undefined) throw surprised(sandbox.unexplained);
  if (demands.length > 0 && sandbox.kind !== 'fences') throw notFenced(sandbox, demands);
  if (demands.length > 0 && unheld.length > 0) throw notLimited(unheld, demands);
  const isMemoryWatched = sandbox.limits?.held.memory === 'watchdog' && limitNames(workflow).has('memory');
  if (demands.length > 0 && isMemoryWatched) throw onlyWatched(demands);
  const limits = unheld.map((limit) => `the workflow limits ${limit}, which this machine cannot hold`);
  const grants =
    sandbox.kind === 'fences' && !canGrant && hasGrants(workflow)
      ? [
          "grants take effect at the agent's next attempt: without a compiler at install, no running sandbox can be opened",
        ]
      : [];
  return {
    ...isolationOf(sandbox),
    notes: [
      ...sandbox.notes,
      ...(sandbox.kind === 'fences' ? limits : []),
      ...(isMemoryWatched ? [`memory is watched, not held: ${UNCOUNTED} are not counted`] : []),
      ...grants,
    ],
  };
}

export function isolationOf({ kind, launcher, limits, lacks, notes }: Sandbox): Isolation {
  return {
    kind,
    ...(launcher.uid !== undefined && { uid: launcher.uid }),
    ...(limits && { limits: limits.held }),
    ...(kind !== 'fences' && { lacks: lacks.map(({ what }) => what).join('; ') }),
    notes,
  };
}

/** Who demands isolation, by the names of files; the strictest wins, so one is enough. */
function demandsOf(home: Home, workflow: Workflow, source: string): string[] {
  return [...demandsOfConfigs(home), ...demandsOfWorkflow(workflow, source)];
}

export function demandsOfConfigs(home: Home | undefined): string[] {
  return loadConfigs([...(home ? [home.config] : []), userConfigFile()])
    .filter(({ config }) => config.isolation === 'required')
    .map(({ file }) =>
      home && path.isAbsolute(file) ? path.relative(home.top, file).replace(/^\.\.\/.*/, file) : file,
    );
}

/** Also of the workflows that it uses. */
function demandsOfWorkflow({ isolation, nested = {} }: Workflow, source: string): string[] {
  return [
    ...(isolation === 'required' ? [source] : []),
    ...Object.entries(nested).flatMap(([file, each]) => demandsOfWorkflow(each, file)),
  ];
}

function notFenced({ lacks }: Sandbox, demands: string[]): BosunError {
  const machine = `this machine (${process.platform} ${release()}, as ${process.getuid?.() === 0 ? 'root' : 'an ordinary user'})`;
  const lines = lacks.map(({ what, remedy }) => `  ${what}\n    → ${remedy}`);
  return new BosunError(
    'not-supported',
    [
      `nothing was started: isolation is required by ${demands.join(' and ')}, and ${machine} cannot fence commands in:`,
      ...lines,
      `Fix that (bosun doctor checks it), or set isolation: best-effort in ${demands.join(' and ')}.`,
    ].join('\n'),
    { data: { demands, lacks } },
  );
}

/** `best-effort` is for machines that are known to lack something, not for what went wrong. */
function surprised(why: string): BosunError {
  return new BosunError(
    'system',
    `nothing was started: the fences failed in a way that bosun does not know: ${why}${remedyOf(why)}. Run bosun doctor and fix that; --unfenced runs commands without fences, which can then do whatever you can`,
  );
}

function notLimited(unheld: string[], demands: string[]): BosunError {
  return new BosunError(
    'not-supported',
    `nothing was started: isolation is required by ${demands.join(' and ')}, and this machine cannot hold the limit on ${unheld.join(', ')} that the workflow names; bosun doctor says why. Remove the limit, or set isolation: best-effort`,
    { data: { demands, unheld } },
  );
}

/** A program that wants to can take memory that no watch sees. */
function onlyWatched(demands: string[]): BosunError {
  return new BosunError(
    'not-supported',
    `nothing was started: isolation is required by ${demands.join(' and ')}, and the limit on memory that the workflow names is only watched on this machine, where ${UNCOUNTED} are not counted; start bosun in a memory cgroup of its own (systemd-run --user --scope -p Delegate=yes bosun run), remove the limit, or set isolation: best-effort`,
    { data: { demands, unheld: ['memory'] } },
  );
}

function unheldLimits(workflow: Workflow, { limits }: Sandbox): string[] {
  const named = limitNames(workflow);
  return Object.entries(LIMIT_NAMES)
    .filter(([name, held]) => named.has(name) && limits?.held[held] === undefined)
    .map(([, held]) => held);
}

function limitNames(workflow: Workflow): Set<string> {
  return new Set(everyHolder(workflow).flatMap(({ limits }) => Object.keys(limits ?? {})));
}

function hasGrants(workflow: Workflow): boolean {
  return everyHolder(workflow).some(({ scope }) => scope?.grant !== undefined && scope.grant !== 'never');
}

/** All that may have limits and a scope: agents and tasks, also of the workflows that it uses. */
function everyHolder({ agents, tasks, nested = {} }: Workflow): Pick<Agent, 'limits' | 'scope'>[] {
  const all = Object.values(tasks);
  return [
    ...Object.values(agents),
    ...all,
    ...all.flatMap(({ agent }) => (typeof agent === 'object' ? [agent] : [])),
    ...Object.values(nested).flatMap(everyHolder),
  ];
}

/** A full disk is no reason to do without fences. */
function remedyOf(why: string): string {
  const remedy = remedyIn(why);
  return remedy === undefined ? '' : `; ${remedy}`;
}
