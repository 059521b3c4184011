/** Who spent the money of a run by a moment: by task, agent and model, from what was charged. Pure. */
import type { Spending } from '../../../../src/contract/model.ts';
import { noSpending, spend } from '../../../../src/schedule/money/budget.ts';
import type { RunAt } from '../../../film/run-at.ts';

export interface Share {
  /** Of a task, its id. */
  name: string;
  spending: Spending;
}

export interface SpentBy {
  tasks: Share[];
  agents: Share[];
  models: Share[];
}

/** Those that spent most go first. */
export function spentBy({ events, count, task }: Pick<RunAt, 'events' | 'count' | 'task'>): SpentBy {
  const tasks = new Map<string, Spending>();
  const agents = new Map<string, Spending>();
  const models = new Map<string, Spending>();
  for (let n = 0; n < count; n++) {
    const { event } = events[n]!;
    if (event.type !== 'model.used') continue;
    const of = task(event.task);
    const runtime = of?.view.runtime ?? of?.facts.runtime;
    spend(entryOf(tasks, event.task), event);
    spend(entryOf(agents, of?.facts.agent ?? runtime ?? 'a command'), event);
    spend(entryOf(models, runtime === undefined ? event.model : `${event.model} in ${runtime}`), event);
  }
  return { tasks: sorted(tasks), agents: sorted(agents), models: sorted(models) };
}

function entryOf(all: Map<string, Spending>, name: string): Spending {
  let found = all.get(name);
  if (!found) all.set(name, (found = noSpending()));
  return found;
}

function sorted(all: Map<string, Spending>): Share[] {
  return [...all]
    .map(([name, spending]) => ({ name, spending }))
    .sort((a, b) => b.spending.usd - a.spending.usd || b.spending.requests - a.spending.requests);
}
