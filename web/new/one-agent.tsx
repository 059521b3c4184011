/** One agent with a prompt and no workflow file, and its start. */
import { useRef, useState, type ReactNode } from 'react';
import { RUNTIME_DEFAULT, RUNTIMES, takesCommand, type RuntimeName } from '../../src/contract/runtimes.ts';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { Field } from '../parts/field.tsx';
import { plainText } from '../parts/plain.ts';
import type { Finding } from './findings.ts';
import { Fences } from './prospect.tsx';
import { commandOf } from './shell.ts';
import { useDoctor } from './use-doctor.ts';
import { useStart } from './use-start.ts';

const PROMPT_CHARS_MAX = 1024 * 1024;
const NOTHING = { runtime: '', command: '', model: '', prompt: '', check: '', usd: '' };
type Filled = typeof NOTHING;

export function OneAgent({ repository }: { repository: string }): ReactNode {
  const doctor = useDoctor(repository);
  const installed = doctor.state === 'answered' ? installedOf(doctor.value) : undefined;
  const [filled, setFilled] = useState(NOTHING);
  const [isDirty, setDirty] = useState(false);
  const [problems, setProblems] = useState<Partial<Filled>>({});
  const [trouble, setTrouble] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const { isStarting, start } = useStart(repository);
  const runtime = (filled.runtime || installed?.[0] || RUNTIME_DEFAULT) as RuntimeName;
  const { model, prompt, check } = filled;
  const command = takesCommand(runtime) ? filled.command : '';
  const usd = filled.usd.trim() === '' ? undefined : Number(filled.usd);
  const begin = async (): Promise<void> => {
    const wrong: Partial<Filled> = {
      ...(prompt.trim() === '' && { prompt: 'This is required.' }),
      ...(takesCommand(runtime) && command.trim() === '' && { command: 'This is required.' }),
      ...(usd !== undefined && !(usd > 0) && { usd: 'This must be a number above 0.' }),
    };
    setProblems(wrong);
    setTrouble(undefined);
    const focus = (): void => {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
    };
    if (Object.keys(wrong).length > 0) return focus();
    const problem = await start('exec', {
      prompt,
      runtime,
      ...(command !== '' && { command }),
      ...(model !== '' && { model }),
      ...(check !== '' && { check }),
      ...(usd !== undefined && { usd }),
      ...(isDirty && { dirty: true }),
    });
    if (problem) setTrouble(problem.message);
    return undefined;
  };
  const act: Command = {
    id: 'start',
    label: isStarting ? 'Starting…' : 'Start',
    keys: 'mod+Enter',
    cli: commandOf(
      ['exec'],
      [
        ['--runtime', runtime],
        ['--command', command],
        ['--model', model],
        ['--check', check],
        ['--usd', usd],
        ['--dirty', isDirty],
      ],
      [prompt.trim() === '' ? '…' : prompt],
    ),
    isDisabled: isStarting,
    run: () => void begin(),
  };
  useCommands([act]);
  const textField = (name: keyof Filled, label: string, about?: string, look = 'field'): ReactNode => (
    <Field label={label} about={about} problem={problems[name]}>
      {(given) => (
        <input
          {...given}
          className={look}
          autoComplete="off"
          spellCheck={false}
          value={filled[name]}
          onChange={({ target }) => change(name, target.value)}
        />
      )}
    </Field>
  );
  const change = (name: keyof Filled, value: string): void => {
    setFilled({ ...filled, [name]: value });
    setProblems({ ...problems, [name]: undefined });
  };
  return (
    <form
      ref={form}
      className="new-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isStarting) act.run();
      }}
    >
      <Field
        label="Agent"
        about={installed?.length === 0 ? 'None of these was found on this machine.' : undefined}
      >
        {(given) => (
          <select
            {...given}
            className="field"
            value={runtime}
            onChange={({ target }) => change('runtime', target.value)}
          >
            {RUNTIMES.map((name) => (
              <option key={name} value={name}>
                {installed && !takesCommand(name) && !installed.includes(name)
                  ? `${name} · not found here`
                  : name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {takesCommand(runtime) &&
        textField('command', 'Command', runtime === 'cli' ? 'It gets the prompt on stdin.' : 'An ACP agent.')}
      {runtime !== 'cli' && textField('model', 'Model', 'Its own default if nothing is named.')}
      <Field label="Prompt" problem={problems.prompt} isRequired>
        {(given) => (
          <textarea
            {...given}
            className="field"
            maxLength={PROMPT_CHARS_MAX}
            value={prompt}
            onChange={({ target }) => change('prompt', target.value)}
          />
        )}
      </Field>
      {textField('check', 'Check', 'A command that must pass; a failure goes back to the agent.')}
      {textField('usd', 'Budget $', 'A person is asked when this much is spent.', 'field short')}
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
      <div className="new-prospect" role="status">
        <p>
          <b>1</b> agent in a workspace of its own · <Fences doctor={doctor} />
        </p>
      </div>
      {trouble !== undefined && (
        <p className="problem" role="alert">
          {plainText(trouble)}
        </p>
      )}
      <div className="new-end">
        <code className="cmd">{act.cli}</code>
        <CommandButton command={act} main />
      </div>
    </form>
  );
}

function installedOf(findings: readonly Finding[]): RuntimeName[] {
  return RUNTIMES.filter((name) => findings.some((each) => each.name === name && each.runtime?.isInstalled));
}
