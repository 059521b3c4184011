/** What is compared of a run: its report, and its strip while it goes on. */
import { useEffect, type ReactNode } from 'react';
import type { RunReport, TaskReport } from '../../src/contract/report.ts';
import type { Strip } from '../../src/contract/strip.ts';
import type { Problem } from '../data/api.ts';
import { runPath } from '../data/api.ts';
import { useRun, useStrip } from '../data/use-run.ts';
import type { RunAt } from '../film/run-at.ts';
import { useAsked, type Answered } from '../parts/use-asked.ts';

export interface Named {
  repository: string;
  run: string;
}

export interface Compared extends Named {
  report: RunReport;
  strip: Strip;
  at: RunAt;
}

/** A report is made anew not more often than this. */
const AGAIN_MS = 2000;

export function useCompared({ repository, run }: Named): Answered<Compared> {
  const report = useAsked<RunReport>(`${runPath(repository, run)}/report`);
  const opened = useRun(repository, run, null);
  const strip = useStrip(repository, run);
  const count = opened.state === 'open' && report.state === 'answered' ? opened.at.count : 0;
  useEffect(() => {
    if (count === 0 || (report.state === 'answered' && report.value.run.endedAtMs !== null)) return undefined;
    const timer = setTimeout(report.again, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [count]);
  if (report.state === 'problem') return report;
  if (opened.state === 'problem') return { state: 'problem', problem: opened.problem };
  if (report.state === 'waiting' || opened.state === 'loading' || !strip) return { state: 'waiting' };
  return { state: 'answered', value: { repository, run, report: report.value, strip, at: opened.at } };
}

export function OneOfTwo({ of: { repository, run }, problem }: { of: Named; problem: Problem }): ReactNode {
  return (
    <div className="compare-nothing">
      <h2>
        {problem.status === 404 ? `There is no run ${run} in ${repository}.` : `${run} could not be read.`}
      </h2>
      <p className="problem">{problem.message}</p>
    </div>
  );
}

export function workedMs({ attempts }: TaskReport): number {
  return attempts.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0);
}
