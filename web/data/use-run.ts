/** A run for its views: as it is now, or as it was at a moment. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { RunAt } from '../film/run-at.ts';
import type { Strip } from '../../src/contract/strip.ts';
import type { Problem } from './api.ts';
import { openRun } from './run-store.ts';

export type OpenedRun =
  { state: 'loading' } | { state: 'problem'; problem: Problem; again(): void } | { state: 'open'; at: RunAt };

/** `atMs`: null for now. */
export function useRun(repository: string, run: string, atMs: number | null): OpenedRun {
  const store = useRunStore(repository, run);
  return useSyncExternalStore(store.listen, () => store.at(atMs));
}

/** All of it as a strip, whatever moment is shown. */
export function useStrip(repository: string, run: string): Strip | undefined {
  const store = useRunStore(repository, run);
  return useSyncExternalStore(store.listen, () => store.strip());
}

function useRunStore(repository: string, run: string): ReturnType<typeof openRun> {
  const store = useMemo(() => openRun(repository, run), [repository, run]);
  useEffect(() => store.hold(), [store]);
  return store;
}
