/** The head of a task: how it stands, its attempts, who does it, what it came to, and what it may do. */
import type { ReactNode } from 'react';
import { formatBytes } from '../../src/report/words.ts';
import { count } from '../../src/report/words.ts';
import { parseSizeBytes } from '../../src/base/units.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { tellUsd } from '../../src/report/money.ts';
import type { AttemptAt, RunAt, TaskAt } from '../film/run-at.ts';
import { changeQuery } from '../app/router.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import { clock, lookOf, shownState, workedMs } from '../run/views/task-look.ts';
import { CancelTask } from './cancel-task.tsx';
import type { AttemptFacts, TaskSoFar } from './task-facts.ts';

export interface TaskHeadProps {
  at: RunAt;
  task: TaskAt;
  soFar: TaskSoFar;
  /** The attempt that is looked at, where one was chosen. */
  chosen: number | undefined;
  choose(attempt: number): void;
}

const SHOWN_MAX = 4;
const WITHIN_MAX = 60;

export function TaskHead({ at, task, soFar, chosen, choose }: TaskHeadProps): ReactNode {
  const { facts, view, attempts } = task;
  const look = lookOf(task, at.atMs);
  return (
    <header className={`task-head ${look.tone}`}>
      <div className="line">
        <h2>
          <span className="sign" aria-hidden="true">
            {look.sign}
          </span>
          <span className="name">{spellControls(facts.label)}</span>
          <span className="unseen">, {look.state}</span>
        </h2>
        <span className="acts">
          {attempts.length > 1 && (
            <Attempts attempts={attempts} chosen={chosen ?? attempts.at(-1)!.n} choose={choose} />
          )}
          <CancelTask at={at} task={task} />
        </span>
      </div>
      <p className="meta">
        {figuresOf(at, task, soFar, chosen).map((each, n) => (
          <span key={n}>{each}</span>
        ))}
      </p>
      {(view.held || view.state === 'failed') && look.does !== '' && (
        <p className="does">{spellControls(look.does)}</p>
      )}
      <Fences task={task} soFar={soFar} />
      <Within at={at} task={facts.id} />
    </header>
  );
}

function Attempts({
  attempts,
  chosen,
  choose,
}: {
  attempts: readonly AttemptAt[];
  chosen: number;
  choose(n: number): void;
}): ReactNode {
  const shown = attempts.slice(-SHOWN_MAX);
  const left = attempts.length - shown.length;
  return (
    <span className="tries" role="group" aria-label="Attempts">
      {left > 0 && (
        <select
          className="field"
          aria-label="Earlier attempts"
          value={shown.some(({ n }) => n === chosen) ? '' : chosen}
          onChange={({ target }) => choose(Number(target.value))}
        >
          <option value="" disabled>
            {left} more
          </option>
          {attempts.slice(0, left).map(({ n }) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
      )}
      {shown.map(({ n, outcome }) => {
        const state = outcome === null ? 'running' : outcome === 'lost' ? 'interrupted' : outcome;
        return (
          <button
            key={n}
            className={toneOf(state)}
            aria-pressed={n === chosen}
            title={`Attempt ${n}: ${state}`}
            aria-keyshortcuts="[ ]"
            onClick={() => choose(n)}
          >
            {n} <i aria-hidden="true">{signOf(state)}</i>
            <span className="unseen">{state}</span>
          </button>
        );
      })}
    </span>
  );
}

/** `claude-code · opus · 8m23s · $0.88 · 41 tool calls · 6 files` */
function figuresOf(
  at: RunAt,
  { facts, view, attempts }: TaskAt,
  { attempts: all }: TaskSoFar,
  chosen: number | undefined,
): ReactNode[] {
  const one = chosen === undefined ? undefined : all.find(({ n }) => n === chosen);
  const shown = one ? [one] : all;
  const last = shown.at(-1);
  const calls = shown.reduce((sum, { toolCalls }) => sum + toolCalls, 0);
  const models = [...new Set(shown.flatMap((each) => each.models))];
  const who =
    last?.runtime ?? view.runtime ?? facts.runtime ?? (facts.kind === 'work' ? 'command' : KINDS[facts.kind]);
  const ms = one
    ? lasted(
        attempts.find(({ n }) => n === one.n),
        at.atMs,
      )
    : workedMs(view, at.atMs);
  const usd = one ? tellUsd(one.spending) : view.spending ? tellUsd(view.spending) : '';
  const files = lastLeft(shown)?.changedCount ?? 0;
  return [
    agentName(facts),
    who,
    models.length > 0 ? models.map(spellControls).join(', ') : facts.model,
    ms > 0 && clock(ms),
    usd.replace(' (estimated)', ''),
    calls > 0 && count(calls, 'tool call'),
    files > 0 && count(files, 'file'),
    !one && attempts.length === 0 && WORDS[shownState(view)],
  ].filter((each) => each !== undefined && each !== false && each !== '');
}

/** Where it says more than the task does: one that is written in a task has no name of its own. */
function agentName({ agent, label, runtime }: TaskAt['facts']): string | undefined {
  if (agent === undefined || agent === label || agent === runtime || agent.startsWith('task:'))
    return undefined;
  return spellControls(agent);
}

const KINDS = {
  approve: 'asks you',
  'for-each': 'for each',
  uses: 'a workflow',
  handoff: 'handoff',
  race: 'race',
  continuous: 'continuous',
  work: '',
};
const WORDS: Partial<Record<TaskAt['view']['state'], string>> = {
  waiting: 'waits',
  ready: 'waits for its turn',
  skipped: 'skipped',
  cancelled: 'cancelled',
};

function lasted(attempt: AttemptAt | undefined, atMs: number): number {
  return attempt ? Math.max(0, (attempt.endedAtMs ?? atMs) - attempt.startedAtMs) : 0;
}

export function lastLeft(attempts: readonly AttemptFacts[]): AttemptFacts | undefined {
  return attempts.findLast(({ changed }) => changed !== undefined);
}

/** The tasks that it stands for. */
function Within({ at, task }: { at: RunAt; task: string }): ReactNode {
  const all = at.tasks.filter(({ facts }) => facts.parent === task);
  if (all.length === 0) return null;
  return (
    <ul className="within" aria-label="Tasks within it">
      {all.slice(0, WITHIN_MAX).map((each) => {
        const { tone, sign, state } = lookOf(each, at.atMs);
        return (
          <li key={each.facts.id} className={tone}>
            <button onClick={() => changeQuery({ task: each.facts.id })}>
              <i aria-hidden="true">{sign}</i> {spellControls(each.facts.label)}
              <span className="unseen">, {state}</span>
            </button>
          </li>
        );
      })}
      {all.length > WITHIN_MAX && <li className="quiet">and {all.length - WITHIN_MAX} more</li>}
    </ul>
  );
}

/** What it may do, drawn as fences are on a plan. */
function Fences({ task: { facts }, soFar }: { task: TaskAt; soFar: TaskSoFar }): ReactNode {
  const { scope = {}, limits = {} } = facts;
  if (facts.kind !== 'work' && facts.kind !== 'continuous') return null;
  const granted = soFar.access.filter(({ answer }) => answer === 'yes').flatMap(({ globs }) => globs);
  const asked = soFar.access.filter(({ answer }) => answer === null).flatMap(({ globs }) => globs);
  const refused = soFar.access.filter(({ answer }) => answer === 'no').flatMap(({ globs }) => globs);
  const limit = limitsOf(limits);
  return (
    <ul className="fence" aria-label="What it may do">
      <li>
        {scope.write === undefined ? (
          'writes anything'
        ) : scope.write.length === 0 ? (
          'writes nothing'
        ) : (
          <>
            writes <Globs of={scope.write} />
          </>
        )}
      </li>
      {granted.length > 0 && (
        <li className="good">
          granted <Globs of={granted} />
        </li>
      )}
      {asked.length > 0 && (
        <li className="ask">
          asks for <Globs of={asked} />
        </li>
      )}
      {refused.length > 0 && (
        <li className="bad">
          refused <Globs of={refused} />
        </li>
      )}
      {scope.shared && scope.shared.length > 0 && (
        <li>
          shares <Globs of={scope.shared} />
        </li>
      )}
      {scope.hide && scope.hide.length > 0 && (
        <li>
          does not see <Globs of={scope.hide} />
        </li>
      )}
      {scope.read && scope.read.length > 0 && (
        <li>
          also reads <Globs of={scope.read} />
        </li>
      )}
      <li>
        {scope.network && scope.network.length > 0 ? (
          <>
            reaches <Globs of={scope.network} />
          </>
        ) : facts.runtime === undefined || facts.runtime === 'cli' ? (
          'reaches nothing'
        ) : (
          'reaches its model only'
        )}
      </li>
      {soFar.denied.length > 0 && (
        <li className="bad">
          kept from <Globs of={soFar.denied} />
        </li>
      )}
      {limit !== '' && <li>{limit}</li>}
    </ul>
  );
}

function Globs({ of }: { of: readonly string[] }): ReactNode {
  const shown = of.slice(0, SHOWN_MAX);
  return (
    <span title={of.map(spellControls).join('\n')}>
      {shown.map((glob, n) => (
        <code key={n}>{spellControls(glob)}</code>
      ))}
      {of.length > shown.length && ` and ${of.length - shown.length} more`}
    </span>
  );
}

/** `2 GB · 30 min` */
function limitsOf({
  memory,
  minutes,
  processes,
  cpu,
  disk,
  files,
}: NonNullable<TaskAt['facts']['limits']>): string {
  const size = (bytes: string | number): string => formatBytes(parseSizeBytes(bytes)).replace('.0 ', ' ');
  return [
    memory !== undefined && size(memory),
    minutes !== undefined && `${minutes} min`,
    processes !== undefined && `${processes} processes`,
    cpu !== undefined && `${cpu} cores`,
    disk !== undefined && `${size(disk)} disk`,
    files !== undefined && `${files} files`,
  ]
    .filter(Boolean)
    .join(' · ');
}
