/** Which hooks a run would have, in their order, and where they are written. It calls none of them. */
import type { OutputOf, Reading } from '../contract/operations.ts';
import type { Workflow } from '../contract/workflow.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import { reachOfHook } from '../definition/reach.ts';
import type { Hook } from '../hooks/hook.ts';
import { userHooks, workflowHooks, type HookPlace } from '../run/hook-list.ts';
import { checkFile, findFile } from './check.ts';
import { notTrusted } from './trust.ts';

type Hooks = OutputOf<'hooks'>;

export async function hooksInForce(options: Reading<'hooks'>): Promise<Hooks> {
  const { cwd, file } = options;
  const place: HookPlace = { top: cwd, env: process.env };
  const own = userHooks(loadConfigs([userConfigFile()]), place).map((hook) => shown(hook, true));
  if (file === undefined && findFile(cwd) === undefined) return own;
  const { workflow, file: source } = await checkFile(options);
  return [...own, ...hooksOf(workflow, source)];

  function hooksOf(each: Workflow, from: string): Hooks {
    const hooks = workflowHooks(each, from, place).map((hook, n) => {
      const asks = reachOfHook(each.hooks![n]!);
      return shown(hook, notTrusted(cwd, [asks], { from: { source: from, workflow: each } }).length === 0);
    });
    const inner = Object.entries(each.nested ?? {}).flatMap(([uses, nested]) => hooksOf(nested, uses));
    return [...hooks, ...inner];
  }
}

function shown({ name, from, on, what, timeoutMs }: Hook, isTrusted: boolean): Hooks[number] {
  return { name, from, on: [...on], what, timeoutMs, isTrusted };
}
