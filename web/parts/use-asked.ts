/** What the server answers to one question, asked when it is first shown and whenever the question changes. */
import { useEffect, useState } from 'react';
import { ask, Problem, type Asking } from '../data/api.ts';

export type Answered<T> =
  { state: 'waiting' } | { state: 'answered'; value: T } | { state: 'problem'; problem: Problem };

/** `path`: null asks nothing yet. `again` asks anew, with what was answered before still there. */
export function useAsked<T>(
  path: string | null,
  asking: Pick<Asking, 'query' | 'body'> = {},
): Answered<T> & { again(): void } {
  const [count, setCount] = useState(0);
  const key = JSON.stringify([path, asking]);
  const [answered, setAnswered] = useState<Answered<T> & { key?: string }>({ state: 'waiting' });
  useEffect(() => {
    const [at, what] = JSON.parse(key) as [string | null, Asking];
    if (at === null) return undefined;
    const stop = new AbortController();
    ask<T>(at, { ...what, signal: stop.signal }).then(
      (value) => setAnswered({ state: 'answered', value, key }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(0, 'system', String(error));
        setAnswered({ state: 'problem', problem, key });
      },
    );
    return () => stop.abort();
  }, [key, count]);
  const again = (): void => setCount(count + 1);
  return answered.key === key ? { ...answered, again } : { state: 'waiting', again };
}
