/** What an agent, or somebody outside, asks for as a child → a task within what its parent may do. It adds none. */
import { BosunError } from '../contract/errors.ts';
import type { SpawnRequest } from '../contract/child.ts';
import type { Json, Task } from '../contract/workflow.ts';
import { checkExpansionApart } from '../definition/expansion/thread.ts';
import { tokensInAll } from '../contract/model.ts';
import { accountsOf, limitsOf, noSpending, writtenBudgets } from '../schedule/money/budget.ts';
import { describeUnit } from '../schedule/money/budget-words.ts';
import type { Node, State } from '../schedule/state.ts';
import { agentOf, onConflict } from '../schedule/workflow/agent-of.ts';
import { childScope } from '../schedule/workflow/child-scope.ts';
import { effectiveLimits, effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';

/** Checked as a task that a planner wrote: it gets at most what its parent has. Nothing that the agent wrote is a template. */
export async function childTask(
  state: State,
  node: Node,
  name: string,
  request: SpawnRequest,
): Promise<Task> {
  const { prompt, agent, runtime, model, write, check, usd, tokens } = request;
  if (agent !== undefined && (runtime ?? model) !== undefined)
    throw new BosunError('usage', 'name an agent of the workflow, or a runtime and a model, but not both');
  for (const text of [prompt, check ?? 'true'])
    if (text.trim() === '' || text.includes('\0'))
      throw new BosunError('usage', 'a prompt and a check must have text, with no NUL character in it');
  requireShare(state, node, request);
  const own = agentOf(node, 'work');
  const isInline = runtime !== undefined || model !== undefined;
  const isSame = agent === undefined && !isInline;
  if (isSame && own === undefined)
    throw new BosunError(
      'usage',
      `say which agent the child is (${Object.keys(node.workflow.agents).join(', ') || 'or which runtime'}): ${node.label} runs a plain command, and has none to inherit`,
    );
  const inline = { runtime: runtime ?? own?.agent.runtime, ...(model !== undefined && { model }) };
  const source = {
    // Of the same kind as its parent: there is nothing to check about that.
    ...(isSame ? { run: 'true' } : { agent: agent ?? inline, prompt: 'x' }),
    ...(write && { scope: { write } }),
    ...((usd ?? tokens) !== undefined && {
      budget: { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }) },
    }),
  };
  const parent = {
    scope: withGranted(effectiveScope(node.task, own?.agent), node.granted),
    limits: effectiveLimits(node.task, own?.agent),
    budget: own?.agent.budget,
    globsOfPeople: [],
  };
  const refuse = (problem: string): never => {
    throw new BosunError('usage', `no child was started: ${problem}`);
  };
  const checked = await checkExpansionApart({ [name]: source } as Json, node.workflow, parent);
  if ('problem' in checked) return refuse(checked.problem);
  const { run: _, ...task } = checked.tasks[name]!;
  const who = isSame ? node.task.agent! : task.agent!;
  const bounded = childScope(
    effectiveScope(task, typeof who === 'string' ? node.workflow.agents[who] : who),
    parent.scope,
  );
  if ('problem' in bounded) return refuse(bounded.problem);
  const { workspace, timeout, attempts } = node.task;
  return {
    ...task,
    agent: who,
    prompt,
    scope: bounded.scope,
    attempts,
    'on-conflict': onConflict(node),
    // What becomes of it is its parent's to judge.
    'on-failure': 'continue',
    ...(check !== undefined && { check }),
    ...(timeout !== undefined && { timeout }),
    // Who has no copy of the repository has no child with one.
    ...(workspace !== undefined && { workspace }),
  };
}

/** A share of what is left: a child that could not have it would only find out later. */
function requireShare(state: State, node: Node, { usd, tokens }: SpawnRequest): void {
  const written = writtenBudgets(state, node);
  for (const account of accountsOf(node)) {
    const limits = limitsOf(state, account, written.get(account));
    const spent = state.spending.get(account) ?? noSpending();
    const shares = [
      { unit: 'usd', asked: usd, left: (limits.usd ?? Infinity) - spent.usd },
      { unit: 'tokens', asked: tokens, left: (limits.tokens ?? Infinity) - tokensInAll(spent.tokens) },
    ] as const;
    for (const { unit, asked, left } of shares) {
      if (asked === undefined || asked <= left) continue;
      const words = describeUnit(unit, Math.max(0, left));
      throw new BosunError(
        'usage',
        `no child was started: it asks for ${describeUnit(unit, asked)}, and its parent has ${words} left; ask for less`,
      );
    }
  }
}
