/** What Home says of all runs: what needs a person, what is at work, what is done and not merged, what was before. Pure. */
import type { ShownRun } from '../../src/contract/outputs.ts';
import { isOpen, shownCounts, type QuestionView } from '../../src/contract/run.ts';
import { runHref } from '../app/router.ts';
import type { Glance, RepositoryAt } from '../data/home-store.ts';

export type Need =
  | { kind: 'question'; key: string; repository: string; glance: Glance; question: QuestionView }
  | { kind: 'failed' | 'interrupted'; key: string; repository: string; glance: Glance };

/** Where it is looked at. */
export function needHref(need: Need): string {
  const { repository, glance } = need;
  const ask = need.kind === 'question' ? { task: need.question.task, ask: need.question.id } : {};
  return runHref(repository, glance.run.id, ask);
}

export interface RunRow {
  key: string;
  repository: string;
  glance: Glance;
}

export interface HomeView {
  needs: readonly Need[];
  atWork: readonly RunRow[];
  unmerged: readonly RunRow[];
  earlier: readonly RunRow[];
}

/** A run that failed needs a person for so long, unless its workflow has run again since. */
const FAILED_MS = 3 * 86_400_000;
const EARLIER_MAX = 20;

export function homeView(repositories: readonly RepositoryAt[], nowMs: number): HomeView {
  const rows = repositories
    .flatMap(({ name: repository, runs }) =>
      runs.map((glance): RunRow => ({ key: `${repository}/${glance.run.id}`, repository, glance })),
    )
    .toSorted((a, b) => b.glance.run.createdAtMs - a.glance.run.createdAtMs);
  const isAtWork = ({ glance: { run } }: RunRow): boolean => isOpen(run) && run.state !== 'interrupted';
  const isUnmerged = ({ glance }: RunRow): boolean => isReady(glance);
  return {
    needs: needsOf(rows, nowMs),
    atWork: rows.filter(isAtWork),
    unmerged: rows.filter(isUnmerged),
    earlier: rows.filter((row) => !isAtWork(row) && !isUnmerged(row)).slice(0, EARLIER_MAX),
  };
}

/** It is done, and what it did is on no branch of the user's. */
export function isReady({ run, isMerged }: Glance): boolean {
  return run.state === 'done' && run.headCommit !== run.baseCommit && isMerged !== true;
}

/** Where the process that drove a run is gone, so are the agents that asked. */
export function askedOf({ state, questions }: Pick<ShownRun, 'state' | 'questions'>): QuestionView[] {
  return state === 'interrupted' ? questions.filter(({ kind }) => kind === 'approve') : questions;
}

/** Questions whose time ends first go first, then what waits for ever, then what stands still. */
function needsOf(rows: readonly RunRow[], nowMs: number): Need[] {
  const questions = rows.flatMap(({ repository, glance }) =>
    askedOf(glance.run).map((question): Extract<Need, { kind: 'question' }> => ({
      kind: 'question',
      key: `${repository}/${glance.run.id}/${question.id}`,
      repository,
      glance,
      question,
    })),
  );
  questions.sort(
    (a, b) =>
      (a.question.deadlineAtMs ?? Infinity) - (b.question.deadlineAtMs ?? Infinity) ||
      a.question.askedAtMs - b.question.askedAtMs,
  );
  const newest = new Set<string>();
  const stood = rows.flatMap(({ key, repository, glance }): Need[] => {
    const { run } = glance;
    const workflow = `${repository}/${run.name}`;
    const isNewest = !newest.has(workflow);
    newest.add(workflow);
    if (run.state === 'interrupted') return [{ kind: 'interrupted', key, repository, glance }];
    const isFresh = nowMs - (run.endedAtMs ?? 0) < FAILED_MS;
    return run.state === 'failed' && isNewest && isFresh ? [{ kind: 'failed', key, repository, glance }] : [];
  });
  return [...questions, ...stood];
}

/** "14 of 14 tasks" */
export function tellTasks(run: ShownRun): string {
  const counts = shownCounts(run);
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const done = counts.done ?? 0;
  return all === 1 ? (done === 1 ? '1 task' : '') : `${done} of ${all} tasks`;
}

export interface Waits {
  /** By provider: how many wait for it, and until when. */
  providers: { name: string; untilMs: number; count: number }[];
  /** Agents that are ready and have no slot of this machine. */
  slots: number;
}

export function waitsOf(repositories: readonly RepositoryAt[], nowMs: number): Waits {
  const providers = new Map<string, { name: string; untilMs: number; count: number }>();
  let slots = 0;
  for (const { runs } of repositories)
    for (const { run, tasks } of runs) {
      if (!isOpen(run) || run.state === 'interrupted') continue;
      for (const { provider: name, untilMs } of run.waits ?? []) {
        if (untilMs <= nowMs) continue;
        const known = providers.get(name);
        providers.set(name, {
          name,
          untilMs: Math.max(untilMs, known?.untilMs ?? 0),
          count: known?.count ?? 0,
        });
      }
      for (const { held } of tasks) {
        if (held?.by === 'slot') slots += 1;
        const provider = held?.provider === undefined ? undefined : providers.get(held.provider);
        if (provider) provider.count += 1;
      }
    }
  return { providers: [...providers.values()], slots };
}
