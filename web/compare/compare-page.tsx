/** Two runs side by side, or the candidates of a race. Which ones is in the address: `?a=shop/checkout-13&b=shop/checkout-14`. */
import { useEffect, type ReactNode } from 'react';
import type { ShownRun } from '../../src/contract/outputs.ts';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { changeQuery } from '../app/router.ts';
import { ask, isFolded, repositoryPath } from '../data/api.ts';
import { Page } from '../parts/page.tsx';
import { useAsked } from '../parts/use-asked.ts';
import { usePromised } from '../parts/use-promised.ts';
import { OneOfTwo, useCompared, type Named } from './compared.tsx';
import { Races } from './races.tsx';
import { TwoRuns } from './two-runs.tsx';
import './compare.css';

const RUNS_MAX = 100;

export function ComparePage({ query }: { query: URLSearchParams }): ReactNode {
  useEffect(() => {
    document.title = 'Compare · bosun';
  }, []);
  const repositories = useAsked<ServedRepository[]>('/api/repositories');
  const names = repositories.state === 'answered' ? repositories.value.map(({ name }) => name) : [];
  const runs = usePromised(names.join(' '), () => allRuns(names));
  const [a, b] = [named(query.get('a')), named(query.get('b'))];
  return (
    <Page title="Compare">
      <div className="compare">
        <div className="compare-who">
          <Choice side="a" chosen={a} runs={runs ?? []} />
          <Choice side="b" chosen={b} runs={runs ?? []} />
        </div>
        {repositories.state === 'problem' && <p className="problem">{repositories.problem.message}</p>}
        {a && b ? (
          <Both key={`${keyOf(a)} ${keyOf(b)}`} a={a} b={b} />
        ) : a ? (
          <Single key={keyOf(a)} of={a} />
        ) : (
          <div className="compare-nothing">
            <h2>Which two runs?</h2>
            <p className="quiet">
              Choose them above. One alone shows the candidates of its races. In a terminal, look at each with{' '}
              <code>bosun report</code>
            </p>
          </div>
        )}
      </div>
    </Page>
  );
}

function Both({ a, b }: { a: Named; b: Named }): ReactNode {
  const [one, other] = [useCompared(a), useCompared(b)];
  if (one.state === 'problem') return <OneOfTwo of={a} problem={one.problem} />;
  if (other.state === 'problem') return <OneOfTwo of={b} problem={other.problem} />;
  if (one.state === 'waiting' || other.state === 'waiting') return null;
  return <TwoRuns a={one.value} b={other.value} />;
}

function Single({ of }: { of: Named }): ReactNode {
  const one = useCompared(of);
  if (one.state === 'problem') return <OneOfTwo of={of} problem={one.problem} />;
  return one.state === 'waiting' ? null : <Races of={one.value} />;
}

function Choice({
  side,
  chosen,
  runs,
}: {
  side: 'a' | 'b';
  chosen: Named | undefined;
  runs: readonly (Named & { about: string })[];
}): ReactNode {
  const value = chosen ? keyOf(chosen) : '';
  const isListed = value === '' || runs.some((run) => keyOf(run) === value);
  return (
    <select
      className="field"
      aria-label={side === 'a' ? 'One run' : 'The other run'}
      value={value}
      onChange={({ target }) => changeQuery({ [side]: target.value === '' ? null : target.value })}
    >
      <option value="">{side === 'a' ? 'One run…' : 'The other run…'}</option>
      {!isListed && <option value={value}>{value}</option>}
      {runs.map((run) => (
        <option key={keyOf(run)} value={keyOf(run)}>
          {keyOf(run)} · {run.about}
        </option>
      ))}
    </select>
  );
}

async function allRuns(names: readonly string[]): Promise<(Named & { about: string })[]> {
  const found = names.map(async (repository) => {
    const runs = await ask<ShownRun[]>(`${repositoryPath(repository)}/runs`, { query: { limit: RUNS_MAX } });
    return runs.map((run) => ({ repository, run: run.id, about: run.state, createdAtMs: run.createdAtMs }));
  });
  return (await Promise.all(found)).flat().sort((a, b) => b.createdAtMs - a.createdAtMs);
}

function keyOf({ repository, run }: Named): string {
  return `${repository}/${run}`;
}

function named(text: string | null): Named | undefined {
  const at = text?.indexOf('/') ?? -1;
  if (text === null || at < 1) return undefined;
  const [repository, run] = [text.slice(0, at), text.slice(at + 1)];
  return isFolded(repository) || isFolded(run) ? undefined : { repository, run };
}
