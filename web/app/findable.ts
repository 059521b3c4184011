/** What ⌘K can find: what the page can do, and runs, tasks and repositories, read anew each time it is opened. */
import { useEffect, useMemo, useState } from 'react';
import type { ShownRun, Status } from '../../src/contract/outputs.ts';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { shellWord } from '../../src/base/shell-word.ts';
import { ask, repositoryPath, runPath } from '../data/api.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import type { Command } from './commands.tsx';
import { go, runHref, type Place } from './router.ts';

export interface Found {
  id: string;
  label: string;
  about: string;
  sign: string;
  tone?: string;
  keys?: string;
  cli?: string;
  /** What of two that fit equally well goes first: the lower one. */
  rank: number;
  run(): void;
}

const RUNS_MAX = 50;
const SHOWN_MAX = 50;

export interface Findable {
  state: 'reading' | 'read' | 'failed';
  all: readonly Found[];
}

export function useFindable(place: Place, commands: readonly Command[]): Findable {
  const [things, setThings] = useState<Findable>({ state: 'reading', all: [] });
  const at = place.page === 'run' ? [place.repository, place.run] : [];
  const [repository, run] = at;
  useEffect(() => {
    const stop = new AbortController();
    const look = async (): Promise<void> => {
      try {
        const all = await readThings({ repository, run }, stop.signal);
        setThings({ state: 'read', all });
      } catch {
        if (!stop.signal.aborted) setThings((before) => ({ ...before, state: 'failed' }));
      }
    };
    void look();
    return () => stop.abort();
  }, [repository, run]);
  const doable = useMemo(() => commands.flatMap(doIt), [commands]);
  return useMemo(() => ({ state: things.state, all: [...doable, ...things.all] }), [doable, things]);
}

/** All words have to be there; the start of a name counts more than its middle. */
export function findWhat(all: readonly Found[], words: string): Found[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .flatMap((what) => {
      const score = scoreOf(what, wanted);
      return score === undefined ? [] : [{ what, score }];
    })
    .sort((a, b) => a.score - b.score || a.what.rank - b.what.rank)
    .slice(0, SHOWN_MAX)
    .map(({ what }) => what);
}

function scoreOf({ label, about }: Found, wanted: readonly string[]): number | undefined {
  const name = label.toLowerCase();
  const rest = about.toLowerCase();
  let score = 0;
  for (const word of wanted) {
    const at = name.indexOf(word);
    if (at === 0) continue;
    if (at > 0) score += /[\s/_.-]/.test(name[at - 1]!) ? 1 : 2;
    else if (rest.includes(word)) score += 3;
    else return undefined;
  }
  return score;
}

function doIt({ id, label, keys, cli, isDisabled, run }: Command): Found[] {
  if (isDisabled || id === 'find') return [];
  const told = { ...(keys !== undefined && { keys }), ...(cli !== undefined && { cli }) };
  return [{ id: `do ${id}`, label, about: '', sign: '›', ...told, rank: 1, run }];
}

async function readThings(
  { repository: here, run: at }: { repository: string | undefined; run: string | undefined },
  signal: AbortSignal,
): Promise<Found[]> {
  const repositories = await ask<ServedRepository[]>('/api/repositories', { signal });
  const runs = repositories.map(async ({ name }) => {
    const found = await ask<ShownRun[]>(`${repositoryPath(name)}/runs`, {
      query: { limit: RUNS_MAX },
      signal,
    });
    return found.map((run) => runFound(name, run));
  });
  const tasks =
    here === undefined || at === undefined
      ? []
      : (await ask<Status>(runPath(here, at), { signal })).tasks.map((task) => ({
          id: `task ${task.id}`,
          label: task.label ?? task.id,
          about: `task of ${at}`,
          sign: signOf(task.state),
          tone: toneOf(task.state),
          cli: `bosun logs ${at} --task ${task.id}`,
          rank: 2,
          run: () => go(runHref(here, at, { task: task.id })),
        }));
  return [...tasks, ...(await Promise.all(runs)).flat(), ...repositories.map(repositoryFound)];
}

function runFound(repository: string, { id, name, state, createdAtMs }: ShownRun): Found {
  return {
    id: `run ${repository}/${id}`,
    label: id,
    about: `${repository} · ${name} · ${state}`,
    sign: signOf(state),
    tone: toneOf(state),
    cli: `bosun status ${id}`,
    rank: 3 + 1 / Math.max(2, createdAtMs / 1000), // the latest first
    run: () => go(runHref(repository, id)),
  };
}

function repositoryFound({ name, directory }: ServedRepository): Found {
  return {
    id: `repository ${name}`,
    label: name,
    about: directory,
    sign: '⌂',
    cli: `cd ${shellWord(directory)}`,
    rank: 4,
    run: () => go(`/?repository=${encodeURIComponent(name)}`),
  };
}
