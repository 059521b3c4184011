/** Refuses more variables and headers than anybody means: each attempt gets and records them all. It reads no value. */
import type { Agent, Workflow } from '../../contract/workflow.ts';
import { describe, type Path, type Problem } from '../source/problem.ts';

const ENTRIES_MAX = 1000;

export function checkEnv(workflow: Workflow): Problem[] {
  const problems: Problem[] = [];
  const look = (entries: Record<string, string> | undefined, path: Path): void => {
    const count = entries === undefined ? 0 : Object.keys(entries).length;
    if (count <= ENTRIES_MAX) return;
    const message = `${describe(path)} has ${count} entries; at most ${ENTRIES_MAX} are allowed, put them into a file`;
    problems.push({ path, atKey: true, message });
  };
  const lookAtAgent = ({ scope, mcp = {} }: Agent, path: Path): void => {
    look(scope?.env, [...path, 'scope', 'env']);
    for (const [name, server] of Object.entries(mcp))
      if ('url' in server) look(server.headers, [...path, 'mcp', name, 'headers']);
      else look(server.env, [...path, 'mcp', name, 'env']);
  };
  for (const [name, agent] of Object.entries(workflow.agents)) lookAtAgent(agent, ['agents', name]);
  for (const [name, task] of Object.entries(workflow.tasks)) {
    look(task.env, ['tasks', name, 'env']);
    look(task.scope?.env, ['tasks', name, 'scope', 'env']);
    if (typeof task.agent === 'object') lookAtAgent(task.agent, ['tasks', name, 'agent']);
  }
  return problems;
}
