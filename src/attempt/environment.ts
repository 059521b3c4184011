/** The variables that commands get: nothing of the engine's own but what any program needs. */
import path from 'node:path';
import { PACKAGE } from '../base/package-directory.ts';
import type { Attempt } from './attempt.ts';
import { toolchains } from '../sandbox/machine/toolchains.ts';
import { effectiveScope } from '../schedule/workflow/scope-of.ts';

/** Of an attempt. */
export function environmentOf(
  { agent, task, start, run, crew }: Attempt,
  isFenced: boolean,
): Record<string, string> {
  const env = machineEnvironment(isFenced);
  const scope = effectiveScope(task, agent);
  const own = { BOSUN_RUN: run, BOSUN_TASK: start.task, BOSUN_ATTEMPT: String(start.attempt) };
  const all: Record<string, string> = { ...env, ...scope.env, ...start.env, ...own };
  // Another bosun of this machine may speak otherwise: the engine's own comes first.
  if (isFenced && crew !== undefined)
    all.PATH = [path.join(PACKAGE, 'bin'), all.PATH].filter(Boolean).join(':');
  return all;
}

/** What every command gets, whoever's it is. */
export function machineEnvironment(isFenced: boolean): Record<string, string> {
  const env: Record<string, string> = { TERM: 'dumb', CI: '1' };
  for (const name of ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'SHELL']) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (!isFenced) return env;
  const { variables } = toolchains(process.env.PATH ?? '');
  return { ...variables, ...env, USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/sh' };
}
