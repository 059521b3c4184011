/** Which repositories are served, and whether to serve another one, or one no longer. Nothing in them changes. */
import { useState, type ReactNode } from 'react';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { ask, repositoryPath } from '../data/api.ts';
import { Field } from '../parts/field.tsx';
import { useNotice } from '../parts/notice.tsx';
import { Section } from './section.tsx';

export interface RepositoriesProps {
  all: readonly ServedRepository[];
  mayChange: boolean;
  again(): void;
}

export function Repositories({ all, mayChange, again }: RepositoriesProps): ReactNode {
  const notice = useNotice();
  const [directory, setDirectory] = useState('');
  const [problem, setProblem] = useState<string>();
  const remove = async (name: string): Promise<void> => {
    try {
      await ask(repositoryPath(name), { method: 'DELETE' });
      notice.good(`${name} is served no longer; nothing in it has changed`);
    } catch (error) {
      notice.bad(error);
    }
    again();
  };
  const add = async (): Promise<void> => {
    if (!directory.startsWith('/')) return setProblem('Where is it? A whole path, such as /home/me/shop.');
    try {
      await ask('/api/repositories', { body: { directory } });
      setDirectory('');
      setProblem(undefined);
      return again();
    } catch (error) {
      return setProblem((error as Error).message);
    }
  };
  return (
    <Section title="Repositories" cli="bosun repositories">
      {all.length === 0 && <p className="quiet">None is served yet.</p>}
      <ul className="settings-rows">
        {all.map(({ name, directory: at }) => (
          <li key={name}>
            <b>{name}</b> <code>{at}</code>
            <span />
            {mayChange && (
              <button
                className="act"
                title={`bosun repositories remove ${name}`}
                onClick={() => void remove(name)}
              >
                Remove<span className="unseen"> {name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayChange && (
        <form
          className="settings-new"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <Field label="Add one" problem={problem}>
            {(given) => (
              <span className="settings-line">
                <input
                  {...given}
                  className="field"
                  placeholder="/home/me/shop"
                  autoComplete="off"
                  spellCheck={false}
                  value={directory}
                  onChange={({ target }) => setDirectory(target.value)}
                />
                <button className="act" title={`bosun repositories add ${directory || '…'}`}>
                  Add it
                </button>
              </span>
            )}
          </Field>
        </form>
      )}
    </Section>
  );
}
