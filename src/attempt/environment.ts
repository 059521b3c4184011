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
  if (isFenced && crew !== undefined)
    env.PATH = [env.PATH, path.join(PACKAGE, 'bin')].filter(Boolean).join(':');
  const own = { BOSUN_RUN: run, BOSUN_TASK: start.task, BOSUN_ATTEMPT: String(start.attempt) };
  return { ...env, ...scope.env, ...start.env, ...own };
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
