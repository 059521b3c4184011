/** A run: its header, its film, its tasks, and all views of the moment that is shown. */
import { useEffect, useRef, type ReactNode } from 'react';
import { isTaskOver } from '../../src/contract/run.ts';
import { changeQuery } from '../app/router.ts';
import { useLink } from '../data/link.ts';
import { useRun, useStrip } from '../data/use-run.ts';
import { Film } from '../film/film.tsx';
import { useFilmKeys } from '../film/film-keys.ts';
import type { RunAt } from '../film/run-at.ts';
import { useMedia } from '../parts/use-media.ts';
import { QuestionBar } from '../questions/question-bar.tsx';
import { TaskPanel } from '../task/task-panel.tsx';
import { RunHeader } from './run-header.tsx';
import { useTicking } from './use-ticking.ts';
import { NoRun } from './no-run.tsx';
import { TaskList } from './task-list.tsx';
import { useTaskKeys } from './task-keys.ts';
import { MiddleViews } from './views/middle-views.tsx';
import './run-page.css';

export interface RunPageProps {
  repository: string;
  run: string;
  /** `task`, `view`, `t`: each moment is a link. */
  query: URLSearchParams;
}

export function RunPage({ repository, run, query }: RunPageProps): ReactNode {
  const opened = useRun(repository, run, momentIn(query));
  useEffect(() => {
    document.title = `${run} · bosun`;
  }, [run]);
  if (opened.state === 'open')
    return <OpenRun repository={repository} run={run} at={opened.at} asked={query.get('task')} />;
  return <NoRun repository={repository} run={run} opened={opened} />;
}

interface OpenRunProps {
  repository: string;
  run: string;
  at: RunAt;
  /** The task that the address names. */
  asked: string | null;
}

function OpenRun({ repository, run, at: then, asked }: OpenRunProps): ReactNode {
  const strip = useStrip(repository, run);
  const link = useLink();
  const at = useTicking(then, link);
  const isWide = useMedia('(min-width: 1181px)');
  const isPhone = useMedia('(max-width: 760px)');
  const named = asked !== null && at.task(asked) ? asked : undefined;
  const { first, hold } = useFirst(at);
  const chosen = named ?? (isWide ? first : undefined);
  useFilmKeys(at, wind);
  useTaskKeys(at, { chosen, named, choose });
  const classes = ['run-page', link.state === 'lost' && 'is-lost', !at.isLive && 'is-past'];
  return (
    <main className={classes.filter(Boolean).join(' ')}>
      <header className="top">
        <RunHeader at={at} link={link} wind={wind} />
        <QuestionBar at={at} />
        {strip && <Film at={at} strip={strip} chosen={chosen} wind={wind} />}
      </header>
      {!isPhone && <TaskList at={at} chosen={chosen} named={named} choose={choose} />}
      <section className="middle" aria-label="Views">
        <MiddleViews at={at} chosen={chosen} choose={choose} wind={wind} />
      </section>
      {chosen !== undefined && (
        <aside
          className={isWide ? 'panel' : 'panel sheet'}
          aria-label="Task"
          onFocus={() => hold(chosen)}
          onPointerDown={() => hold(chosen)}
          onWheel={() => hold(chosen)}
        >
          {!isWide && (
            <button className="shut" onClick={() => choose(null)}>
              Close <kbd aria-hidden="true">Esc</kbd>
            </button>
          )}
          <TaskPanel key={`${repository} ${run} ${chosen}`} at={at} task={chosen} />
        </aside>
      )}
    </main>
  );
}

function wind(atMs: number | null): void {
  changeQuery({ t: atMs === null ? null : String(atMs) });
}

function choose(task: string | null): void {
  changeQuery({ task });
}

/** Where nobody chose a task: one stays until it has ended, and for good once somebody reads or writes there. */
function useFirst(at: RunAt): { first: string | undefined; hold(task: string): void } {
  const kept = useRef<{ task?: string | undefined; isHeld?: boolean }>({});
  const { task, isHeld } = kept.current;
  const shown = task === undefined ? undefined : at.task(task);
  const isKept = shown && (isHeld || !at.isLive || !isTaskOver(shown.view));
  const first = isKept ? task : firstOf(at);
  if (!isKept && at.isLive) kept.current = { task: first };
  return {
    first,
    hold(held) {
      kept.current = { task: held, isHeld: true };
    },
  };
}

/** The one that a person would look at: which asks, failed or is at work. */
function firstOf({ tasks }: RunAt): string | undefined {
  const own = tasks.filter(({ facts }) => facts.kind === 'work');
  const found =
    own.find(({ view }) => view.held?.by === 'question' || view.state === 'asking') ??
    own.find(({ view }) => view.state === 'failed') ??
    own.find(({ view }) => view.state === 'running') ??
    own[0] ??
    tasks[0];
  return found?.facts.id;
}

/** In the address as the time in milliseconds; anything else is now. */
function momentIn(query: URLSearchParams): number | null {
  const text = query.get('t') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
