/** Home: what needs a person, what is at work, what is done, over all repositories. */
import { useEffect, useState, type ReactNode } from 'react';
import type { ShownRun } from '../../src/contract/outputs.ts';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { runHref } from '../app/router.ts';
import { ask, repositoryPath } from '../data/api.ts';

export function HomePage(): ReactNode {
  const [runs, setRuns] = useState<{ repository: string; run: ShownRun }[]>();
  useEffect(() => {
    void (async () => {
      const repositories = await ask<ServedRepository[]>('/api/repositories');
      const all = repositories.map(async ({ name }) =>
        (await ask<ShownRun[]>(`${repositoryPath(name)}/runs`)).map((run) => ({ repository: name, run })),
      );
      setRuns((await Promise.all(all)).flat());
    })();
  }, []);
  return (
    <main>
      <h1>Runs</h1>
      <ul>
        {runs?.map(({ repository, run }) => (
          <li key={`${repository}/${run.id}`}>
            <a href={runHref(repository, run.id)}>
              {run.id} <span className="quiet">{repository}</span> {run.state}
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}
