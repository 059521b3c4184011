/** What needs a person, on top of Home: questions, runs that failed, runs that nobody drives. */
import type { ReactNode } from 'react';
import { go, runHref } from '../app/router.ts';
import { useMay } from '../data/session.ts';
import { plain } from '../parts/plain.ts';
import { clock } from '../parts/since.ts';
import { useAct } from '../parts/use-act.ts';
import { Act } from '../questions/answer-form.tsx';
import { QuestionCard } from '../questions/question-card.tsx';
import { goOn, goOnCli, goOnLabel } from './go-on.ts';
import { needHref, type Need } from './home-model.ts';

export interface NeedsProps {
  needs: readonly Need[];
  /** The others are over. */
  open: readonly Need[];
  nowMs: number;
  chosen: string | undefined;
  choose(key: string): void;
}

export function Needs({ needs, open, nowMs, chosen, choose }: NeedsProps): ReactNode {
  if (needs.length === 0) return null;
  const isOpen = new Set(open.map(({ key }) => key));
  return (
    <section aria-label="Needs you" className="first">
      <ol className="needs">
        {needs.map((need) =>
          need.kind === 'question' ? (
            <QuestionCard
              key={need.key}
              repository={need.repository}
              run={need.glance.run.id}
              question={need.question}
              nowMs={nowMs}
              isChosen={chosen === need.key}
              isOver={!isOpen.has(need.key)}
              choose={() => choose(need.key)}
              look={() => go(needHref(need))}
            />
          ) : (
            <Stood
              key={need.key}
              need={need}
              nowMs={nowMs}
              isChosen={chosen === need.key}
              choose={() => choose(need.key)}
            />
          ),
        )}
      </ol>
    </section>
  );
}

interface StoodProps {
  need: Exclude<Need, { kind: 'question' }>;
  nowMs: number;
  isChosen: boolean;
  choose(): void;
}

/** A run that does not go on by itself. */
function Stood({ need: { kind, repository, glance }, nowMs, isChosen, choose }: StoodProps): ReactNode {
  const { run, tasks } = glance;
  const failed = tasks.find(({ state }) => state === 'failed');
  const mayAct = useMay('run');
  const again = useAct(() => goOn(repository, run.id));
  const [first = '', ...rest] = (failed?.message ?? '').split('\n').filter((line) => line.trim() !== '');
  const href = runHref(repository, run.id, failed ? { task: failed.id } : {});
  return (
    <li
      className={`need ${kind === 'failed' ? 'bad' : 'ask'}`}
      aria-current={isChosen ? 'true' : undefined}
      onClick={choose}
    >
      <span className="sign" aria-hidden="true">
        {kind === 'failed' ? '✗' : '!'}
      </span>
      <h2>
        <code>{run.id}</code> {kind === 'failed' ? 'failed:' : 'was interrupted:'}{' '}
        <span className="thin">
          {kind === 'failed' ? plain(first, 200) || 'a task failed' : 'nobody drives it'}
        </span>
      </h2>
      <p className="where">
        {plain(repository, 60)} · {clock(run.endedAtMs ?? run.createdAtMs, nowMs)}
        {failed && (
          <>
            {' '}
            · <code>{plain(failed.label ?? failed.id, 60)}</code>
            {failed.attempt > 0 && `, attempt ${failed.attempt}`}
          </>
        )}{' '}
        · the work is kept
      </p>
      {rest.length > 0 && <p className="why mono">{plain(rest[0]!, 200)}</p>}
      <div className="do">
        {mayAct && (
          <Act
            label={again.isAtWork ? 'Starting…' : goOnLabel(run.state)}
            keys={isChosen ? 'r' : ''}
            cli={goOnCli(run.id)}
            act={again.act}
          />
        )}
        <Act
          label="Look"
          keys={isChosen ? 'Enter' : ''}
          cli={`bosun report ${run.id}`}
          act={() => go(href)}
        />
      </div>
    </li>
  );
}
