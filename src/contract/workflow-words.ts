/** What a workflow says, read by name. It has no schemas, so that also a page can read it. */
import type { Agent, RuntimeName, Task } from './workflow.ts';

/** How a need that a publication meets begins. */
export const API_NEED = 'api:';

/** Who judges a race, or how its score is found; undefined where nobody does, or the first or a person decides. */
export function judgeOf({ judge }: Pick<Task, 'judge'>): Exclude<Task['judge'], 'person'> {
  return judge === 'person' ? undefined : judge;
}

/** What an agent falls back to, the first one first, however it is written. */
export function fallbacksOf(agent: Agent | undefined): { runtime: RuntimeName; model?: string }[] {
  return (agent?.fallback ?? []).map((entry) => {
    if (typeof entry === 'string') return { runtime: entry };
    const { runtime, model } = entry;
    return { runtime, ...(model !== undefined && { model }) };
  });
}
