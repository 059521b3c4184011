/** A run: its header, its film and its views. */
import { useEffect, useState, type ReactNode } from 'react';
import type { Status } from '../../src/contract/outputs.ts';
import { ask, runPath } from '../data/api.ts';

export interface RunPageProps {
  repository: string;
  run: string;
  /** `task`, `view`, `t`: each moment is a link. */
  query: URLSearchParams;
}

export function RunPage({ repository, run }: RunPageProps): ReactNode {
  const [status, setStatus] = useState<Status>();
  useEffect(() => void ask<Status>(runPath(repository, run)).then(setStatus), [repository, run]);
  return (
    <main>
      <h1>
        <a href="/">‹ {repository}</a> / {run}
      </h1>
      <ul>
        {status?.tasks.map(({ id, label, state }) => (
          <li key={id}>
            {label ?? id} <span className="quiet">{state}</span>
          </li>
        ))}
      </ul>
    </main>
  );
}
