/** Two runs on one axis of time, their sums, and what became of each task in both. */
import { Fragment, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { TaskReport } from '../../src/contract/report.ts';
import { shortCost } from '../../src/report/cost-words.ts';
import { count } from '../../src/report/words.ts';
import { describeUsd } from '../../src/schedule/money/budget-words.ts';
import { runHref } from '../app/router.ts';
import { Strip } from '../film/strip.tsx';
import { signOf, toneOf } from '../parts/tone.ts';
import { workedMs, type Compared } from './compared.tsx';

const ROWS_MAX = 500;

export function TwoRuns({ a, b }: { a: Compared; b: Compared }): ReactNode {
  const longestMs = Math.max(1, lastedMs(a), lastedMs(b));
  const ids = [...new Set([...a.report.tasks, ...b.report.tasks].map(({ id }) => id))];
  return (
    <>
      {[a, b].map((each, n) => (
        <Face key={n} of={each} share={lastedMs(each) / longestMs} />
      ))}
      <Sameness a={a} b={b} />
      <div className="compare-scroll" tabIndex={0} role="region" aria-label="Tasks of both">
        <table className="compare-tasks">
          <thead>
            <tr>
              <th scope="col">Task</th>
              <th scope="col" colSpan={2}>
                Time
              </th>
              <th scope="col" colSpan={2}>
                Money
              </th>
              <th scope="col" colSpan={2}>
                Changes
              </th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {ids.slice(0, ROWS_MAX).map((id) => (
              <TaskOfBoth key={id} a={taskOf(a, id)} b={taskOf(b, id)} />
            ))}
          </tbody>
        </table>
      </div>
      {ids.length > ROWS_MAX && (
        <p className="quiet">
          The first {ROWS_MAX} of {ids.length} tasks; the report of each run has all.
        </p>
      )}
    </>
  );
}

function Face({ of, share }: { of: Compared; share: number }): ReactNode {
  const { repository, run, report, strip } = of;
  const { totals } = report;
  const { state } = report.run;
  return (
    <section className="compare-face" aria-label={run}>
      <p>
        <span className={`sign ${toneOf(state)}`} aria-hidden="true">
          {signOf(state)}
        </span>
        <a href={runHref(repository, run)}>
          <b>{run}</b>
        </a>{' '}
        <span className="quiet">
          {repository} · {state}
        </span>
      </p>
      <div style={{ width: `${Math.max(1, share * 100)}%` }}>
        <Strip strip={strip} size="list" />
      </div>
      <p className="compare-sums">
        <span>{formatDuration(report.run.durationMs)}</span>
        {totals.cost.requests > 0 && <span>{shortCost(totals.cost)}</span>}
        <span>{count(totals.changedFiles, 'file')}</span>
        {totals.linesAdded !== null && (
          <span>
            <span className="plus">+{totals.linesAdded}</span>{' '}
            <span className="minus">−{totals.linesRemoved}</span>
          </span>
        )}
      </p>
    </section>
  );
}

/** Inputs, base, and what the journals say in all. */
function Sameness({ a, b }: { a: Compared; b: Compared }): ReactNode {
  const [one, other] = [a.report.run, b.report.run];
  const names = [...new Set([...Object.keys(one.inputs), ...Object.keys(other.inputs)])];
  const differing = names.filter((name) => text(one.inputs[name]) !== text(other.inputs[name]));
  const hashes = one.hash === null || other.hash === null ? undefined : one.hash === other.hash;
  return (
    <div className="compare-same">
      <p>
        <Same isSame={one.name === other.name}>workflow</Same>
        <Same isSame={differing.length === 0}>inputs</Same>
        <Same isSame={one.baseCommit === other.baseCommit && one.dirty === other.dirty}>base</Same>
        {hashes === undefined ? (
          <span className="quiet">no journal hash: only runs that used a model have one</span>
        ) : (
          <Same isSame={hashes}>journal hash</Same>
        )}
      </p>
      {differing.length > 0 && (
        <dl>
          {differing.map((name) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{text(one.inputs[name])}</code> → <code>{text(other.inputs[name])}</code>
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
    </div>
  );
}

function Same({ isSame, children }: { isSame: boolean; children: string }): ReactNode {
  return (
    <span className={isSame ? 'quiet' : 'differs'}>
      {isSame ? '=' : '≠'} {isSame ? 'same' : 'other'} {children}
    </span>
  );
}

function TaskOfBoth({ a, b }: { a: TaskReport | undefined; b: TaskReport | undefined }): ReactNode {
  const either = (b ?? a)!;
  return (
    <tr>
      <th scope="row" title={either.title}>
        <Sign of={a} />
        <Sign of={b} /> {either.label}
        {(!a || !b) && <span className="quiet"> {a ? 'gone' : 'new'}</span>}
      </th>
      <Pair a={a && workOf(a)} b={b && workOf(b)} show={formatDuration} />
      <Pair a={usdOf(a)} b={usdOf(b)} show={describeUsd} />
      <td>{diffOf(a)}</td>
      <td>{diffOf(b)}</td>
      <td>{resultOf(a, b)}</td>
    </tr>
  );
}

function usdOf(task: TaskReport | undefined): number | undefined {
  return task && task.cost.requests > task.cost.unpriced ? task.cost.usdKnown : undefined;
}

/** As it was in the first, and by how much the other differs. */
function Pair({
  a,
  b,
  show,
}: {
  a: number | undefined;
  b: number | undefined;
  show(value: number): string;
}): ReactNode {
  const more = (b ?? 0) - (a ?? 0);
  const isSame = show(Math.abs(more)) === show(0);
  return (
    <>
      <td>{a === undefined ? '' : show(a)}</td>
      <td className={a === undefined || b === undefined || isSame ? 'quiet' : ''}>
        {b === undefined
          ? ''
          : a === undefined
            ? show(b)
            : isSame
              ? '='
              : `${more < 0 ? '−' : '+'}${show(Math.abs(more))}`}
      </td>
    </>
  );
}

function Sign({ of }: { of: TaskReport | undefined }): ReactNode {
  if (!of) return <span className="sign">·</span>;
  return (
    <span className={`sign ${toneOf(of.state)}`} role="img" aria-label={of.state}>
      {signOf(of.state)}
    </span>
  );
}

function diffOf(task: TaskReport | undefined): ReactNode {
  if (!task?.diff) return '';
  const { files, linesAdded, linesRemoved } = task.diff;
  return (
    <>
      {files} <span className="plus">+{linesAdded}</span> <span className="minus">−{linesRemoved}</span>
    </>
  );
}

/** Of what is known of both: a patch that is longer than what a report keeps is not known. */
function resultOf(a: TaskReport | undefined, b: TaskReport | undefined): ReactNode {
  if (!a || !b) return '';
  if (a.diff && b.diff && a.diff.linesLeftOut === 0 && b.diff.linesLeftOut === 0)
    return a.diff.patch === b.diff.patch ? '= same diff' : <span className="differs">≠ diff</span>;
  if (a.diff || b.diff) return <span className="differs">≠ diff</span>;
  if (text(a.output) !== text(b.output)) return <span className="differs">≠ output</span>;
  return a.state === b.state ? '=' : <span className="differs">≠</span>;
}

function taskOf({ report }: Compared, id: string): TaskReport | undefined {
  return report.tasks.find((task) => task.id === id);
}

/** Undefined for what does no work of its own: a step that asks, a group. */
function workOf(task: TaskReport): number | undefined {
  return task.attempts.length === 0 ? undefined : workedMs(task);
}

function lastedMs({ strip }: Compared): number {
  return strip.toMs - strip.fromMs;
}

function text(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, 200);
}
