/**
 * What the user's configuration gives agents that leave it open: a runtime, a model, a time limit. A file's own
 * `defaults` go before it. It checks nothing.
 */
import { isFields, type Fields } from '../base/fields.ts';
import type { Config } from '../contract/config.ts';
import { RUNTIME_DEFAULT } from '../contract/runtimes.ts';
import type { Agent, Task, Workflow } from '../contract/workflow.ts';
import { taskKind } from './check/tasks.ts';

/** All of it is the user's own: a repository's configuration cannot say which program runs. */
export type UsersDefaults = Pick<Config, 'runtime' | 'model' | 'timeout'>;

/** A definition as it is written, after its own defaults: its agents, and those that its tasks have inline. */
export function fillUsersAgents(data: unknown, users: UsersDefaults): unknown {
  if (!isFields(data)) return data;
  const fill = (name: string, one: (own: Fields) => Fields): Fields => {
    const entries = data[name];
    if (!isFields(entries)) return {};
    return {
      [name]: Object.fromEntries(
        Object.entries(entries).map(([key, own]) => [key, isFields(own) ? one(own) : own]),
      ),
    };
  };
  return {
    ...data,
    ...fill('agents', (agent) => usersAgent(agent, users)),
    ...fill('tasks', (task) =>
      isFields(task['agent']) ? { ...task, agent: usersAgent(task['agent'], users) } : task,
    ),
  };
}

/** A model belongs to a runtime: only agents of the default one get it. */
export function usersAgent(agent: Fields, { runtime = RUNTIME_DEFAULT, model }: UsersDefaults): Fields {
  const whole: Fields = agent['runtime'] === undefined ? { ...agent, runtime } : agent;
  return model !== undefined && whole['runtime'] === runtime && agent['model'] === undefined
    ? { ...whole, model }
    : whole;
}

/** Tasks of agents with no limit on their time, in no way in which one can be written. */
export function fillUsersTimeout(workflow: Workflow, { timeout }: UsersDefaults): void {
  if (timeout === undefined) return;
  for (const task of Object.values(workflow.tasks)) {
    const kind = taskKind(task);
    if (kind !== 'agent' && kind !== 'handoff' && kind !== 'race') continue;
    const minutes = [task.limits, ...agentsOf(task, workflow).map(({ limits }) => limits)];
    if (task.timeout === undefined && minutes.every((limits) => limits?.minutes === undefined))
      task.timeout = timeout;
  }
}

function agentsOf(task: Task, { agents }: Workflow): Agent[] {
  const { agent, handoff = [], race } = task;
  const names = [
    ...(typeof agent === 'string' ? [agent] : []),
    ...handoff,
    ...(Array.isArray(race) ? race : []),
  ];
  const named = names.flatMap((name) => (Object.hasOwn(agents, name) ? [agents[name]!] : []));
  return typeof agent === 'object' ? [agent, ...named] : named;
}
