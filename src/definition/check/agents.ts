/** Checks agents, who names them, and budgets. */
import { asksModels, MODEL_RUNTIMES, takesCommand } from '../../contract/runtimes.ts';
import { OUR_TOOLS } from '../../contract/model.ts';
import type { Agent, Budget, Task, Workflow } from '../../contract/workflow.ts';
import { fallbacksOf } from '../../contract/workflow-words.ts';
import { compilePattern, PatternError } from '../../base/pattern.ts';
import { didYouMean } from '../../base/suggest.ts';
import { wordList } from '../../base/word-list.ts';
import { SUGGESTIONS_MAX, type Path, type Problem } from '../source/problem.ts';

const CONFLICT_AGENT = 'agent:';
const AMOUNTS = ['usd', 'tokens', 'requests', 'minutes'] as const;

/** Where agents are named, and which. */
export function agentNames(
  workflow: Pick<Workflow, 'on-conflict' | 'tasks'>,
): { path: Path; name: string }[] {
  const found: { path: Path; name: string }[] = [];
  const onConflict = (owner: Workflow['on-conflict'] | Task['on-conflict'], path: Path): void => {
    if (owner?.startsWith(CONFLICT_AGENT)) found.push({ path, name: owner.slice(CONFLICT_AGENT.length) });
  };
  onConflict(workflow['on-conflict'], ['on-conflict']);
  for (const [task, fields] of Object.entries(workflow.tasks)) {
    const { agent, handoff, race, judge, summarize, 'on-conflict': conflict } = fields;
    if (typeof agent === 'string') found.push({ path: ['tasks', task, 'agent'], name: agent });
    for (const [n, name] of (handoff ?? []).entries())
      found.push({ path: ['tasks', task, 'handoff', n], name });
    for (const [n, name] of (Array.isArray(race) ? race : []).entries())
      found.push({ path: ['tasks', task, 'race', n], name });
    if (typeof judge === 'object' && 'agent' in judge)
      found.push({ path: ['tasks', task, 'judge', 'agent'], name: judge.agent });
    if (summarize !== undefined) found.push({ path: ['tasks', task, 'summarize'], name: summarize });
    onConflict(conflict, ['tasks', task, 'on-conflict']);
  }
  return found;
}

export function checkAgents(workflow: Workflow): Problem[] {
  const known = Object.keys(workflow.agents);
  const problems = agentNames(workflow)
    .filter(({ name }) => !Object.hasOwn(workflow.agents, name))
    .map(({ path, name }, n): Problem => {
      const where = path[0] === 'tasks' ? `task "${path[1]}"` : 'the workflow';
      const close = n < SUGGESTIONS_MAX ? didYouMean(name, known) : '';
      const near = close || '; add it under "agents" or as .bosun/agents/' + name + '.md';
      return { path, message: `${where} names the agent "${name}", which does not exist${near}` };
    });
  for (const [name, agent] of Object.entries(workflow.agents)) {
    problems.push(...checkUsage(agent, ['agents', name]));
    problems.push(...checkAgent(agent, ['agents', name], `agent "${name}"`, workflow.budget));
  }
  for (const [name, task] of Object.entries(workflow.tasks)) {
    problems.push(...checkBudget(task.budget, ['tasks', name, 'budget'], `task "${name}"`, workflow.budget));
    if (typeof task.agent === 'object') {
      problems.push(...checkUsage(task.agent, ['tasks', name, 'agent']));
      problems.push(
        ...checkAgent(task.agent, ['tasks', name, 'agent'], `the agent of task "${name}"`, workflow.budget),
      );
    }
  }
  return problems;
}

/** The patterns that find in a command's output what it used. */
function checkUsage({ usage = {} }: Agent, path: Path): Problem[] {
  return Object.entries(usage).flatMap(([field, rule]): Problem[] => {
    if (rule === undefined || rule.startsWith('$.')) return [];
    try {
      compilePattern(rule, 'm');
      return [];
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return [{ path: [...path, 'usage', field], message: `the pattern "${rule}" ${error.message}` }];
    }
  });
}

function checkAgent(agent: Agent, path: Path, it: string, budget: Budget | undefined): Problem[] {
  const problems = checkBudget(agent.budget, [...path, 'budget'], it, budget);
  const { runtime, command, model } = agent;
  const fallbacks = fallbacksOf(agent);
  const needy = [agent, ...fallbacks].map((each) => each.runtime).find(takesCommand);
  if (needy !== undefined && command === undefined) {
    problems.push({
      path,
      atKey: true,
      message: `${it} has the runtime "${needy}" but no command; add "command: <what to start>"`,
    });
  }
  if (needy === undefined && command !== undefined) {
    problems.push({
      path: [...path, 'command'],
      atKey: true,
      message: `${it} has a command, which only the runtimes cli and acp take; remove it, or add "runtime: cli"`,
    });
  }
  if (Object.hasOwn(agent.mcp ?? {}, OUR_TOOLS)) {
    problems.push({
      path: [...path, 'mcp', OUR_TOOLS],
      atKey: true,
      message: `${it} has a tool server called "${OUR_TOOLS}", which is the name of our own; give it another name`,
    });
  }
  for (const [n, { runtime: name, model: other }] of fallbacks.entries()) {
    const at = [...path, 'fallback', n];
    if (name === runtime && (other === undefined || other === model)) {
      const message = `${it} falls back from "${runtime}" to itself; remove it, or give it another model`;
      problems.push({ path: at, message });
    } else if (asksModels(name) !== asksModels(runtime)) {
      problems.push({
        path: at,
        message: `${it} cannot fall back from "${runtime}" to "${name}": cli is a family of its own; the others are ${wordList(MODEL_RUNTIMES, 'and')}`,
      });
    }
  }
  return problems;
}

function checkBudget(own: Budget | undefined, path: Path, it: string, whole: Budget | undefined): Problem[] {
  if (!own || !whole) return [];
  return AMOUNTS.filter((amount) => (own[amount] ?? 0) > (whole[amount] ?? Infinity)).map((amount) => ({
    path: [...path, amount],
    message: `the budget of ${it} is impossible: ${own[amount]} ${amount}, but the whole run has ${whole[amount]}; lower it or raise the run's`,
  }));
}
