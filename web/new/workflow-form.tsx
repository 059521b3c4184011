/** The inputs of a workflow that has no problems, what it may cost, what it reaches, and its start. */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { spellControls } from '../../src/report/text/plain.ts';
import { useMay } from '../data/session.ts';
import { Field } from '../parts/field.tsx';
import { plain, plainText } from '../parts/plain.ts';
import { InputField } from './input-field.tsx';
import { problemsAtInputs, readInputs, typedAtFirst, type Typed } from './inputs.ts';
import { commandOf } from './shell.ts';
import type { CheckedFile } from './one-workflow.tsx';
import { Prospect } from './prospect.tsx';
import { useStart } from './use-start.ts';

export interface WorkflowFormProps {
  repository: string;
  checked: CheckedFile;
  checkAgain(): void;
}

/** For a workflow that somebody comes back to. */
const typedBefore = new Map<string, Typed>();

export function WorkflowForm({ repository, checked, checkAgain }: WorkflowFormProps): ReactNode {
  const { workflow, file, warnings, ignored, fresh } = checked;
  const isAdmin = useMay('admin');
  const place = `${repository}/${file}`;
  const [typed, setTyped] = useState(() => typedAtFirst(workflow, typedBefore.get(place) ?? {}));
  const [usd, setUsd] = useState(workflow.budget?.usd === undefined ? '' : String(workflow.budget.usd));
  const [isDirty, setDirty] = useState(false);
  const [trusted, setTrusted] = useState<string>();
  const [problems, setProblems] = useState<Record<string, string | undefined>>({});
  const [trouble, setTrouble] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const { isStarting, start } = useStart(repository);
  useEffect(() => void typedBefore.set(place, typed), [place, typed]);

  const { values, problems: wrong } = readInputs(workflow, typed);
  const usdGiven = usd.trim() !== '' && Number(usd) !== workflow.budget?.usd ? Number(usd) : undefined;
  const usdWrong = usd.trim() !== '' && !(Number(usd) > 0) ? 'This must be a number above 0.' : undefined;
  const isReaching = fresh.length > 0;
  // Whoever ticked it agreed to this list, and to no other.
  const isTrusted = trusted === fresh.join('\n') && fresh.length <= SHOWN_MAX;
  const begin = async (): Promise<void> => {
    setTrouble(undefined);
    const all = { ...wrong, ...(usdWrong !== undefined && { '(budget)': usdWrong }) };
    setProblems(all);
    if (Object.keys(all).length > 0) return focusFirst(form.current);
    const problem = await start('runs', {
      file,
      ...(Object.keys(values).length > 0 && { inputs: values }),
      ...(usdGiven !== undefined && { usd: usdGiven }),
      ...(isDirty && { dirty: true }),
      ...(isReaching && isTrusted && { trust: true, agreed: fresh }),
    });
    if (!problem) return undefined;
    if (problem.code === 'not-trusted' || problem.code === 'invalid-workflow') checkAgain();
    const told = problemsAtInputs(problem.message, workflow);
    setProblems(told.problems);
    if (told.rest !== '') setTrouble(told.rest);
    return focusFirst(form.current);
  };
  const command: Command = {
    id: 'start',
    label: isStarting ? 'Starting…' : 'Start',
    keys: 'mod+Enter',
    cli: commandOf(
      ['run', ...(file === 'bosun.yaml' ? [] : [file])],
      [
        ...Object.entries(values).map(([name, value]) => ['-i', `${name}=${value}`] as const),
        ['--usd', usdWrong === undefined ? usdGiven : undefined],
        ['--dirty', isDirty],
        ['--trust', isReaching && isTrusted],
      ],
    ),
    isDisabled: isStarting || (isReaching && !isTrusted),
    run: () => void begin(),
  };
  useCommands([command]);
  return (
    <form
      ref={form}
      className="new-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!command.isDisabled) command.run();
      }}
    >
      {Object.entries(workflow.inputs).map(([name, input]) => (
        <InputField
          key={name}
          name={name}
          input={input}
          value={typed[name] ?? ''}
          problem={problems[name]}
          change={(value) => {
            setTyped({ ...typed, [name]: value });
            setProblems({ ...problems, [name]: undefined });
          }}
        />
      ))}
      <Field
        label="Budget $"
        about="A person is asked when this much is spent."
        problem={problems['(budget)']}
      >
        {(given) => (
          <input
            {...given}
            className="field short"
            inputMode="decimal"
            autoComplete="off"
            placeholder="no limit"
            value={usd}
            onChange={({ target }) => {
              setUsd(target.value);
              setProblems({ ...problems, '(budget)': undefined });
            }}
          />
        )}
      </Field>
      <Field label="Files">
        {(given) => (
          <span className="form-tick">
            <input
              {...given}
              type="checkbox"
              checked={isDirty}
              onChange={({ target }) => setDirty(target.checked)}
            />
            <span className="quiet">with uncommitted changes, not just the last commit</span>
          </span>
        )}
      </Field>
      {[...warnings, ...ignored].map((warning) => (
        <p key={warning} className="new-warning">
          {plain(warning, 2000)}
        </p>
      ))}
      {isReaching && (
        <Reach
          file={file}
          fresh={fresh}
          isAdmin={isAdmin}
          isTrusted={isTrusted}
          trust={(isOn) => setTrusted(isOn ? fresh.join('\n') : undefined)}
        />
      )}
      <Prospect repository={repository} workflow={workflow} />
      {trouble !== undefined && (
        <p className="problem" role="alert">
          {plainText(trouble)}
        </p>
      )}
      <div className="new-end">
        <code className="cmd">{plain(command.cli!)}</code>
        <CommandButton command={command} main />
      </div>
    </form>
  );
}

interface ReachProps {
  file: string;
  fresh: readonly string[];
  isAdmin: boolean;
  isTrusted: boolean;
  trust(isTrusted: boolean): void;
}

const SHOWN_MAX = 50;

/** What it asks for beyond the repository is for an admin to say. */
function Reach({ file, fresh, isAdmin, isTrusted, trust }: ReachProps): ReactNode {
  return (
    <section className="new-reach" aria-label="Trust">
      <h2>
        <span className="sign ask" aria-hidden="true">
          ?
        </span>{' '}
        <span>
          <code>{spellControls(file)}</code> asks for more than this repository. Do you trust it?
        </span>
      </h2>
      <ul>
        {fresh.slice(0, SHOWN_MAX).map((each) => (
          <li key={each}>{spellControls(each)}</li>
        ))}
        {fresh.length > SHOWN_MAX && (
          <li>
            and {fresh.length - SHOWN_MAX} more: bosun check {spellControls(file)}
          </li>
        )}
      </ul>
      {isAdmin ? (
        <label className="form-tick">
          <input type="checkbox" checked={isTrusted} onChange={({ target }) => trust(target.checked)} />
          Yes, for this run. To agree for good: <code>bosun trust</code>
        </label>
      ) : (
        <p>
          This is for an admin to say. On the machine itself: <code>bosun trust</code>
        </p>
      )}
    </section>
  );
}

function focusFirst(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
}
