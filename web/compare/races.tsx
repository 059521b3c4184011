/** The candidates of each race of a run, side by side, with what each changed; where a person judges, the choice. */
import { Fragment, useMemo, useState, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { TaskReport } from '../../src/contract/report.ts';
import type { QuestionView } from '../../src/contract/run.ts';
import { readPatch } from '../../src/report/patch/patch.ts';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { runHref } from '../app/router.ts';
import { ask, request, runPath } from '../data/api.ts';
import { useMay } from '../data/session.ts';
import { useNotice } from '../parts/notice.tsx';
import { signOf, toneOf } from '../parts/tone.ts';
import { usePromised } from '../parts/use-promised.ts';
import { workedMs, type Compared } from './compared.tsx';

const LINES_MAX = 500;
const SIGNS = { hunk: '', added: '+', removed: '−', same: ' ', note: '' };
const PATCH_CHARS_MAX = 256 * 1024;

export function Races({ of }: { of: Compared }): ReactNode {
  const { report, run, repository } = of;
  const races = report.tasks.filter(({ group }) => group === 'race');
  if (races.length === 0)
    return (
      <div className="compare-nothing">
        <h2>{run} has no race.</h2>
        <p className="quiet">Choose another run to compare it with, or go to the run.</p>
        <p>
          <a className="act" href={runHref(repository, run)}>
            {run}
          </a>
        </p>
      </div>
    );
  return races.map((race) => <Race key={race.id} of={of} race={race} />);
}

function Race({ of, race }: { of: Compared; race: TaskReport }): ReactNode {
  const mayAnswer = useMay('run');
  const notice = useNotice();
  const [isSending, setSending] = useState(false);
  const { repository, run, report, at } = of;
  const candidates = report.tasks.filter(({ id, parent }) => parent === race.id && /\.\d+$/.test(id));
  const question = at.run.questions.find(({ task }) => task === race.id);
  const choose = async (label: string): Promise<void> => {
    setSending(true);
    try {
      await ask(`${runPath(repository, run)}/answer`, { body: { question: question!.id, chosen: [label] } });
      notice.good(`${race.label}: ${label}`);
    } catch (error) {
      notice.bad(error);
      setSending(false);
    }
  };
  const commands =
    mayAnswer && question ? commandsOf(question, run, isSending, (label) => void choose(label)) : [];
  useCommands(commands);
  const none = commands.find(({ label }) => !/\d$/.test(label));
  return (
    <section className="race" aria-label={`Candidates of ${race.label}`}>
      <h2>
        <b>{race.label}</b>{' '}
        <span className="quiet">
          {race.picked === null
            ? question
              ? 'waits for your choice'
              : `${candidates.length} candidates`
            : `${labelOf(report.tasks, race.picked)} was picked: ${race.message ?? ''}`}
        </span>
        {none && <CommandButton command={none} />}
      </h2>
      <div className="race-all">
        {candidates.map((candidate) => {
          const n = /\.(\d+)$/.exec(candidate.id)![1];
          const command = commands.find(({ label }) => label.endsWith(` ${n}`));
          return (
            <Candidate
              key={candidate.id}
              of={of}
              candidate={candidate}
              isPicked={race.picked === candidate.id}
              command={command}
            />
          );
        })}
      </div>
    </section>
  );
}

function Candidate({
  of: { repository, run },
  candidate,
  isPicked,
  command,
}: {
  of: Compared;
  candidate: TaskReport;
  isPicked: boolean;
  command: Command | undefined;
}): ReactNode {
  const { id, label, state, message, output, cost, attempts } = candidate;
  const hasEnded = attempts.some(({ snapshot }) => snapshot !== null);
  const patch = usePromised(`${id} ${state} ${attempts.length} ${hasEnded}`, () =>
    patchOf(repository, run, id),
  );
  const files = useMemo(() => (patch === undefined ? undefined : readPatch(patch.split('\n'))), [patch]);
  return (
    <article className={isPicked ? 'candidate picked' : 'candidate'}>
      <header>
        <p>
          <span className={`sign ${toneOf(state)}`} role="img" aria-label={state}>
            {signOf(state)}
          </span>{' '}
          <a href={runHref(repository, run, { task: id })}>
            <b>{label}</b>
          </a>{' '}
          <span className="quiet">
            {formatDuration(workedMs(candidate))} · ${cost.usdKnown.toFixed(2)}
            {isPicked && ' · picked'}
          </span>
        </p>
        {command && <CommandButton command={command} main />}
      </header>
      {message !== null && <p className={toneOf(state) === 'bad' ? 'problem' : 'quiet'}>{message}</p>}
      {typeof output === 'string' && output.trim() !== '' && <p className="said">{output.slice(0, 600)}</p>}
      <pre tabIndex={0} aria-label={`What ${label} changed`}>
        {files?.length === 0 && <span className="quiet">changed nothing</span>}
        {files?.map(({ path, note, added, removed, lines }, n) => (
          <Fragment key={n}>
            <span className="file">
              {path} <i className="quiet">{note}</i> <i className="plus">+{added}</i>{' '}
              <i className="minus">−{removed}</i>
            </span>
            {lines.slice(0, LINES_MAX).map(({ kind, text }, m) => (
              <span key={m} className={kind}>
                {SIGNS[kind]}
                {text}
              </span>
            ))}
            {lines.length > LINES_MAX && (
              <span className="note">… and {lines.length - LINES_MAX} more lines</span>
            )}
          </Fragment>
        ))}
      </pre>
    </article>
  );
}

function commandsOf(
  question: QuestionView,
  run: string,
  isDisabled: boolean,
  choose: (label: string) => void,
): Command[] {
  return (question.choices ?? []).map(({ label }, n) => ({
    id: `choose ${question.id} ${label}`,
    label: `Choose ${label}`,
    ...(n < 9 && { keys: String(n + 1) }),
    cli: `bosun answer ${question.id} ${n + 1} --run ${run}`,
    isDisabled,
    run: () => choose(label),
  }));
}

async function patchOf(repository: string, run: string, task: string): Promise<string> {
  const { body } = await request(`${runPath(repository, run)}/patch`, { query: { task } });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.length < PATCH_CHARS_MAX) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
  }
  await reader.cancel();
  return `${text.slice(0, PATCH_CHARS_MAX)}\n… and more: bosun diff ${run} --task ${task}`;
}

function labelOf(tasks: readonly TaskReport[], id: string): string {
  return tasks.find((task) => task.id === id)?.label ?? id;
}
