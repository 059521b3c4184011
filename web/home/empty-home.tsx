/** Home where there is nothing to show: no run yet, or it could not be read. */
import type { ReactNode } from 'react';
import { Keys } from '../app/commands.tsx';
import { go } from '../app/router.ts';
import type { Problem } from '../data/api.ts';
import type { RepositoryAt } from '../data/home-store.ts';
import { plain } from '../parts/plain.ts';

export function EmptyHome({
  repositories,
  filter,
  mayStart,
}: {
  repositories: readonly RepositoryAt[];
  filter: string | null;
  mayStart: boolean;
}): ReactNode {
  const [first] = repositories;
  if (!first)
    return (
      <main className="empty">
        <h1>{filter === null ? 'No repository yet.' : `${filter} is not served.`}</h1>
        <p className="quiet">Go to one, and type:</p>
        <p>
          <code>bosun repositories add</code>
        </p>
      </main>
    );
  return (
    <main className="empty">
      <h1>
        No run yet{repositories.length === 1 && <> in {first.name}</>}. <b>Type one command</b>, or start one
        here.
      </h1>
      <p>
        <code>cd {plain(first.directory, 200)} && bosun run</code>
      </p>
      {mayStart && (
        <p>
          <button
            className="act main"
            title="bosun run"
            aria-keyshortcuts="n"
            onClick={() => go(`/new?repository=${encodeURIComponent(first.name)}`)}
          >
            Start a run <Keys keys="n" />
          </button>
        </p>
      )}
    </main>
  );
}

export function HomeProblem({ problem, again }: { problem: Problem; again(): void }): ReactNode {
  return (
    <main className="empty">
      <h1>The runs could not be read.</h1>
      <p>{problem.message}</p>
      <p className="quiet">Runs go on: only this page does not see them.</p>
      <p>
        <button className="act main" onClick={again}>
          Try again
        </button>
      </p>
    </main>
  );
}
