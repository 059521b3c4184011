/**
 * What a workflow asks for beyond its repository, a line for each thing, for people to read and to agree to. What
 * stays inside is not in it. It opens nothing.
 */
import { resolve } from 'node:path';
import { readPath } from './check/reads.ts';
import { ownerOf } from '../base/dot-git.ts';
import { shellWord } from '../base/shell-word.ts';
import { asksModels } from '../contract/runtimes.ts';
import type { WorkflowHook } from '../contract/hook-config.ts';
import { serviceOf } from '../contract/services.ts';
import type { Agent, Workflow } from '../contract/workflow.ts';
import { realPath } from '../system/files/real-path.ts';
import { isWithin } from '../base/is-within.ts';
import { scopesOf } from './check/scopes-of.ts';

/** Sorted, each once. `top` is where the repository's files are. */
export function reachOf(workflow: Workflow, top: string): string[] {
  return [...new Set(everyWorkflow(workflow).flatMap((each) => beyond(each, realPath(top))))].sort();
}

/** Services are the run's own. */
function hostsOf(network: readonly string[]): string[] {
  return network.filter((entry) => serviceOf(entry.toLowerCase()) === undefined);
}

function beyond(workflow: Workflow, top: string): string[] {
  const scopes = scopesOf(workflow).map(({ scope }) => scope);
  const spaces = [workflow, ...Object.values(workflow.tasks)].map(({ workspace }) => workspace);
  return [
    ...scopes.flatMap(({ network = [] }) => hostsOf(network).map((host) => `reach ${host}`)),
    ...scopes.flatMap(({ read = [] }) => read.map((file) => realPath(readPath(file, top)))).flatMap(reading),
    ...spaces.flatMap((space) =>
      space === undefined || space === 'none'
        ? []
        : hostsOf(space.network ?? []).map((host) => `reach ${host} during setup`),
    ),
    ...agentsOf(workflow).flatMap((agent) => [...servers(agent), ...program(agent)]),
    ...(workflow.hooks ?? []).map(reachOfHook),
  ];

  function reading(file: string): string[] {
    if (file === top) return [`read ${file}, all of this repository with its git directory`];
    return staysInside(file, top) ? [] : [`read ${file}`];
  }

  /** A fence shows the program of an agent, wherever that lies. */
  function program({ runtime, command }: Agent): string[] {
    const word = Array.isArray(command) ? command[0]! : '';
    if (!asksModels(runtime) || !word.includes('/')) return [];
    const file = realPath(resolve(word));
    return staysInside(file, top) || SYSTEM.test(file) ? [] : [`start ${file}`];
  }
}

/** How a line about a hook begins. */
export const HOOK_REACH = 'run the hook ';

/** It is told word for word: what is agreed to is this command, not what it will do. */
export function reachOfHook({ on, command }: WorkflowHook): string {
  const text = typeof command === 'string' ? command : command.map(shellWord).join(' ');
  return `${HOOK_REACH}${text} (${[on].flat().join(', ')}) with no fence, and whatever files of the repository it runs`;
}

/** What every fence shows in any case. */
const SYSTEM = /^\/(usr|bin|sbin|lib(32|64|x32)?)\//;

/** Git's own directory may hold credentials, and what bosun keeps; the whole repository has it within. */
function staysInside(file: string, top: string): boolean {
  const below = file.slice(top.length + 1);
  return isWithin(top, file) && below !== '' && ownerOf(below) !== 'git';
}

function servers({ mcp = {} }: Agent): string[] {
  return Object.values(mcp).flatMap((server) =>
    'url' in server ? [`use the tool server ${server.url}`] : [],
  );
}

function agentsOf({ agents, tasks }: Workflow): Agent[] {
  const inline = Object.values(tasks).flatMap(({ agent }) => (typeof agent === 'object' ? [agent] : []));
  return [...Object.values(agents), ...inline];
}

function everyWorkflow(workflow: Workflow): Workflow[] {
  return [workflow, ...Object.values(workflow.nested ?? {}).flatMap(everyWorkflow)];
}
