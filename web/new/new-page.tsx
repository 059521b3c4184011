/** Start a run: which repository, then a workflow with its inputs, or one agent with a prompt. It starts nothing by itself. */
import { useEffect, type ReactNode } from 'react';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { changeQuery } from '../app/router.ts';
import { useMay } from '../data/session.ts';
import { Field } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { useAsked } from '../parts/use-asked.ts';
import { OneAgent } from './one-agent.tsx';
import { OneWorkflow } from './one-workflow.tsx';
import './new.css';

export function NewPage({ query }: { query: URLSearchParams }): ReactNode {
  const mayStart = useMay('run');
  const repositories = useAsked<ServedRepository[]>('/api/repositories');
  useEffect(() => {
    document.title = 'Start a run · bosun';
  }, []);
  return (
    <Page title="Start a run">
      {!mayStart ? (
        <Nothing title="You may look, and start nothing.">
          The token of this browser has the role read. Sign in with one that has the role run.
        </Nothing>
      ) : repositories.state === 'problem' ? (
        <Nothing title="The repositories could not be read.">{repositories.problem.message}</Nothing>
      ) : repositories.state === 'answered' ? (
        <Chosen repositories={repositories.value} query={query} />
      ) : null}
    </Page>
  );
}

function Chosen({
  repositories,
  query,
}: {
  repositories: readonly ServedRepository[];
  query: URLSearchParams;
}): ReactNode {
  const [first] = repositories;
  const found = repositories.find(({ name }) => name === query.get('repository')) ?? first;
  if (!found)
    return (
      <Nothing title="No repository is served yet.">
        Add one, in its directory: <code>bosun repositories add</code>
      </Nothing>
    );
  const isAgent = query.get('with') === 'agent';
  const kinds = [
    [null, 'A workflow'],
    ['agent', 'One agent'],
  ] as const;
  return (
    <div className="new">
      <nav className="new-kinds" aria-label="What to run">
        {kinds.map(([kind, label]) => (
          <button
            key={label}
            aria-current={(kind === 'agent') === isAgent ? 'page' : undefined}
            onClick={() => changeQuery({ with: kind })}
          >
            {label}
          </button>
        ))}
      </nav>
      <Field label="Repository" about={<code>{found.directory}</code>}>
        {(given) => (
          <select
            {...given}
            className="field"
            value={found.name}
            onChange={({ target }) => changeQuery({ repository: target.value, file: null })}
          >
            {repositories.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {isAgent ? (
        <OneAgent key={found.name} repository={found.name} />
      ) : (
        <OneWorkflow key={found.name} repository={found.name} asked={query.get('file')} />
      )}
    </div>
  );
}

function Nothing({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="new-nothing">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
