/** What a task printed, as it comes. What its agent said and did is in the events of the run. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Output } from './output.ts';
import { openOutput } from './output-store.ts';

/** The whole task, all of its attempts; also what came after the moment that the page is wound to. */
export function useOutput(repository: string, run: string, task: string): Output {
  const store = useMemo(() => openOutput(repository, run, task), [repository, run, task]);
  useEffect(() => store.hold(), [store]);
  return useSyncExternalStore(store.listen, store.now);
}
