/** What stands in place of a run that is not there, or not yet. */
import { useEffect, useState, type ReactNode } from 'react';
import { plain } from '../parts/plain.ts';
import type { OpenedRun } from '../data/use-run.ts';

/** Sooner than that nothing is said of waiting. */
const PATIENCE_MS = 300;

export interface NoRunProps {
  repository: string;
  run: string;
  opened: Exclude<OpenedRun, { state: 'open' }>;
}

export function NoRun({ repository, run, opened }: NoRunProps): ReactNode {
  if (opened.state === 'loading') return <Reading run={run} />;
  const { problem, again } = opened;
  const isUnknown = problem.status === 404;
  return (
    <main className="alone">
      <h1>{isUnknown ? `There is no run ${plain(run)} here.` : `${plain(run)} could not be read.`}</h1>
      <p>{plain(sentence(problem.message), 2000)}</p>
      <p className="quiet">
        {isUnknown
          ? `It may have been pruned, or belong to another repository than ${repository}.`
          : 'The run itself goes on: only this page does not see it.'}
      </p>
      <p className="row">
        {!isUnknown && (
          <button className="act main" onClick={again}>
            Try again
          </button>
        )}{' '}
        <a className="act" href="/">
          All runs
        </a>
      </p>
    </main>
  );
}

function Reading({ run }: { run: string }): ReactNode {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <main className="alone" aria-busy="true">
      {isSlow && <p className="quiet">Reading {run}…</p>}
    </main>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
