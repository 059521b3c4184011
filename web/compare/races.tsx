/** The candidates of each race of a run, side by side, with what each changed; where a person judges, the choice. */
import { useState, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { TaskReport } from '../../src/contract/report.ts';
import type { QuestionView } from '../../src/contract/run.ts';
import { shortCost } from '../../src/report/cost-words.ts';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { runHref } from '../app/router.ts';
import { ask, runPath } from '../data/api.ts';
import { useMay } from '../data/session.ts';
import { useNotice } from '../parts/notice.tsx';
import { plain, plainText } from '../parts/plain.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import { Changed } from './changed.tsx';
import { workedMs, type Compared } from './compared.tsx';

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
    <section className="race" aria-label={`Candidates of ${plain(race.label)}`}>
      <h2>
        <b>{plain(race.label)}</b>{' '}
        <span className="quiet">
          {race.picked === null
            ? question
              ? 'waits for your choice'
              : `${candidates.length} candidates`
            : plain(`${labelOf(report.tasks, race.picked)} was picked: ${race.message ?? ''}`)}
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
  return (
    <article className={isPicked ? 'candidate picked' : 'candidate'}>
      <header>
        <p>
          <span className={`sign ${toneOf(state)}`} role="img" aria-label={state}>
            {signOf(state)}
          </span>{' '}
          <a href={runHref(repository, run, { task: id })}>
            <b>{plain(label)}</b>
          </a>{' '}
          <span className="quiet">
            {formatDuration(workedMs(candidate))} {cost.requests > 0 && ` · ${shortCost(cost)}`}
            {isPicked && ' · picked'}
          </span>
        </p>
        {command && <CommandButton command={command} main />}
      </header>
      {message !== null && <p className={toneOf(state) === 'bad' ? 'problem' : 'quiet'}>{plain(message)}</p>}
      {typeof output === 'string' && output.trim() !== '' && (
        <p className="said">{plainText(output.slice(0, 600))}</p>
      )}
      {hasEnded && (
        <Changed
          key={`${state} ${attempts.length}`}
          of={{ repository, run, task: id, attempt: undefined, outside: false }}
          label={label}
        />
      )}
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
    label: `Choose ${plain(label)}`,
    ...(n < 9 && { keys: String(n + 1) }),
    cli: `bosun answer ${question.id} ${n + 1} --run ${run}`,
    isDisabled,
    run: () => choose(label),
  }));
}

function labelOf(tasks: readonly TaskReport[], id: string): string {
  return tasks.find((task) => task.id === id)?.label ?? id;
}
