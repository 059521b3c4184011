/** A form made of the inputs of a workflow, with what a check says of it, and the way to start it. */
import type { ReactNode } from 'react';
import type { Checked, WorkflowFiles } from '../../src/contract/outputs.ts';
import type { z } from 'zod';
import { changeQuery } from '../app/router.ts';
import { repositoryPath } from '../data/api.ts';
import { Field } from '../parts/field.tsx';
import { plain } from '../parts/plain.ts';
import { useAsked } from '../parts/use-asked.ts';
import { WorkflowForm } from './workflow-form.tsx';

export type CheckedFile = z.output<typeof Checked>;

export function OneWorkflow({ repository, asked }: { repository: string; asked: string | null }): ReactNode {
  const path = repositoryPath(repository);
  const listed = useAsked<WorkflowFiles>(`${path}/workflows`);
  const files = listed.state === 'answered' ? listed.value.files : [];
  const file = asked ?? files[0]?.file;
  const checked = useAsked<CheckedFile>(file === undefined ? null : `${path}/check`, { body: { file } });
  if (listed.state === 'waiting') return null;
  if (listed.state === 'problem') return <p className="problem">{listed.problem.message}</p>;
  if (file === undefined)
    return (
      <div className="new-nothing">
        <h2>There is no workflow here yet.</h2>
        <p>
          Write a first one, in the repository: <code>bosun init</code>. Or let{' '}
          <button className="as-link" onClick={() => changeQuery({ with: 'agent' })}>
            one agent
          </button>{' '}
          do something.
        </p>
      </div>
    );
  const all = files.some((each) => each.file === file) ? files : [{ file }, ...files];
  return (
    <>
      <Field
        label="Workflow"
        about={listed.value.isCut ? 'There may be more; name one in the address: &file=' : undefined}
      >
        {(given) => (
          <select
            {...given}
            className="field"
            value={file}
            onChange={({ target }) => changeQuery({ file: target.value })}
          >
            {all.map(({ file: each, name }) => (
              <option key={each} value={each}>
                {plain(name === undefined ? each : `${each} · ${name}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {checked.state === 'problem' && (
        <Problems message={checked.problem.message} again={() => checked.again()} />
      )}
      {checked.state === 'answered' && (
        <WorkflowForm key={file} repository={repository} checked={checked.value} checkAgain={checked.again} />
      )}
    </>
  );
}

/** Each with its line and column, as the check says them. */
function Problems({ message, again }: { message: string; again(): void }): ReactNode {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return (
    <div className="new-problems" role="alert">
      <h2>
        <span className="sign bad" aria-hidden="true">
          ✗
        </span>{' '}
        Nothing can be started yet: fix this first.
      </h2>
      <ul>
        {lines.map((line, n) => {
          const [, place, text] = /^(\S+:\d+(?::\d+)?):? (.*)$/.exec(line) ?? [];
          return (
            <li key={n}>
              {place !== undefined && <code>{plain(place)}</code>} {plain(text ?? line, 2000)}
            </li>
          );
        })}
      </ul>
      <p>
        <button className="act" onClick={again}>
          Check again
        </button>
      </p>
    </div>
  );
}
