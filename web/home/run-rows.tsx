/** Runs as rows: how each stands, what its agents do now, its strip, what it changed, cost and took. */
import { useEffect, useState, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { Changes, ShownRun } from '../../src/contract/outputs.ts';
import { isOpen } from '../../src/contract/run.ts';
import { tellUsd } from '../../src/report/money.ts';
import { runHref } from '../app/router.ts';
import { ask, runPath } from '../data/api.ts';
import { lastLineOf, type Glance } from '../data/home-store.ts';
import { useLink } from '../data/link.ts';
import { Strip } from '../film/strip.tsx';
import { plain } from '../parts/plain.ts';
import { clock } from '../parts/since.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import { isReady, tellTasks, type RunRow } from './home-model.ts';

const DOING_MAX = 3;
const DOING_CHARS_MAX = 80;

export interface RunRowsProps {
  title: string;
  rows: readonly RunRow[];
  nowMs: number;
  chosen: string | undefined;
  /** How many there are says nothing. */
  isPast?: boolean;
}

export function RunRows({ title, rows, nowMs, chosen, isPast = false }: RunRowsProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>
        <b>{title}</b> {!isPast && rows.length}
      </h2>
      <ul className="runs">
        {rows.map((row) => (
          <Row key={row.key} row={row} nowMs={nowMs} isChosen={chosen === `row ${row.key}`} />
        ))}
      </ul>
    </section>
  );
}

function Row({ row, nowMs, isChosen }: { row: RunRow; nowMs: number; isChosen: boolean }): ReactNode {
  const { repository, glance } = row;
  const { run, strip } = glance;
  const isLive = useLink().state === 'live';
  const isAtWork = isOpen(run) && run.state !== 'interrupted';
  const untilMs = isAtWork && isLive ? Math.max(nowMs, strip.toMs) : strip.toMs;
  const tookMs = Math.max(0, (run.endedAtMs ?? untilMs) - run.createdAtMs - (run.idleMs ?? 0));
  const tone = run.because === 'budget' ? 'ask' : toneOf(run.state);
  return (
    <li aria-current={isChosen ? 'true' : undefined}>
      <a href={runHref(repository, run.id)} className={tone}>
        <span className="sign" aria-hidden="true">
          {run.because === 'budget' ? '$' : signOf(run.state)}
        </span>
        <div className="who">
          <b>{run.id}</b> <span>{plain(repository, 60)}</span>
          <span className="unseen"> {run.state}</span>
          <p>
            <Doing row={row} nowMs={nowMs} />
          </p>
        </div>
        <div className="strip-cell">
          <Strip strip={strip} size="list" untilMs={untilMs} />
        </div>
        <span className="num delta">
          <Delta repository={repository} run={run} />
        </span>
        <span className="num cost">
          {run.spending ? tellUsd(run.spending).replace(' (estimated)', '') : ''}
        </span>
        <span className="num">
          {formatDuration(tookMs < 1000 ? tookMs : Math.floor(tookMs / 1000) * 1000).replace('.0s', 's')}
          <small>{isAtWork ? 'now' : clock(run.endedAtMs ?? run.createdAtMs, nowMs)}</small>
        </span>
      </a>
    </li>
  );
}

/** What each agent does now; of a run that has ended, how it did. */
function Doing({ row: { repository, glance }, nowMs }: { row: RunRow; nowMs: number }): ReactNode {
  const { run, tasks } = glance;
  if (!isOpen(run) || run.state === 'interrupted') return ending(glance, nowMs);
  if (run.state === 'pending') return 'waits for an engine: bosun work';
  if (run.paused) return `paused by ${plain(run.paused.by, 60)}`;
  const asking = new Set(run.questions.map(({ task }) => task));
  const busy = tasks.filter(({ id, state }) => state === 'running' || state === 'merging' || asking.has(id));
  if (busy.length === 0) return tellTasks(run);
  return (
    <>
      {busy.slice(0, DOING_MAX).map(({ id, label = id, ...task }, n) => (
        <span key={id}>
          {n > 0 && ' · '}
          <em>{plain(label, 40)}</em>{' '}
          {asking.has(id)
            ? 'asks'
            : task.state === 'merging'
              ? 'is merged'
              : plain(
                  task.held?.text ??
                    task.progress?.text ??
                    (lastLineOf(repository, run.id, id) ?? task.lastLine ?? 'works').replace(/^→ /, ''),
                  DOING_CHARS_MAX,
                )}
        </span>
      ))}
      {busy.length > DOING_MAX && ` · ${busy.length - DOING_MAX} more`}
    </>
  );
}

function ending(glance: Glance, nowMs: number): string {
  const { run, tasks } = glance;
  const { landed } = run;
  switch (run.state) {
    case 'interrupted':
      return 'nobody drives it · the work is kept';
    case 'failed': {
      const failed = tasks.find(({ state }) => state === 'failed');
      return plain(failed?.message?.split('\n')[0] ?? 'failed', 120);
    }
    case 'cancelled':
      return run.because === 'budget'
        ? 'stopped at its budget · the work is kept'
        : 'cancelled · the work is kept';
    default: {
      if (landed?.head === run.headCommit && glance.isMerged)
        return `merged into ${plain(landed.branch ?? 'a detached HEAD', 60)} by ${plain(landed.by, 60)}, ${clock(landed.atMs, nowMs)}`;
      const done = tellTasks(run);
      if (run.headCommit === run.baseCommit) return [done, 'changed nothing'].filter(Boolean).join(' · ');
      return [done, isReady(glance) ? 'not merged yet' : 'merged'].filter(Boolean).join(' · ');
    }
  }
}

const deltas = new Map<string, { added: number; deleted: number }>();
const DELTAS_MAX = 500;

/** How many lines; counted by git, so each commit once. */
function Delta({ repository, run }: { repository: string; run: ShownRun }): ReactNode {
  const key = `${repository} ${run.id} ${run.headCommit}`;
  const [, setRead] = useState(0);
  const hasChanged = run.headCommit !== run.baseCommit;
  useEffect(() => {
    if (!hasChanged || deltas.has(key)) return undefined;
    const stop = new AbortController();
    ask<Changes>(`${runPath(repository, run.id)}/changes`, { signal: stop.signal }).then(
      ({ files }) => {
        const sum = (of: 'added' | 'deleted'): number =>
          files.reduce((all, file) => all + (file[of] ?? 0), 0);
        deltas.set(key, { added: sum('added'), deleted: sum('deleted') });
        if (deltas.size > DELTAS_MAX) deltas.delete(deltas.keys().next().value!);
        setRead((n) => n + 1);
      },
      () => {}, // pruned meanwhile, or no server: the row does without
    );
    return () => stop.abort();
  }, [key, hasChanged, repository, run.id]);
  const delta = deltas.get(key);
  if (!delta) return null;
  return (
    <>
      <span className="plus">+{delta.added}</span> <span className="minus">−{delta.deleted}</span>
    </>
  );
}
