/** A task at a moment: its attempts, what it may do, its log, its changes, its messages and artifacts; and a word to it. */
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { formatCount } from '../../src/base/format-count.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { Keys, useCommands } from '../app/commands.tsx';
import { changeQuery, usePlace } from '../app/router.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { Artifacts } from './artifacts.tsx';
import { tellComment, type Comment } from './comments.ts';
import { DiffView } from './diff/diff-view.tsx';
import { LogView } from './log/log-view.tsx';
import { SayBox } from './say-box.tsx';
import { useKeptWords } from './kept-words.ts';
import { useSaying } from './saying.ts';
import { soFar } from './task-facts.ts';
import { lastLeft, TaskHead } from './task-head.tsx';
import { TaskMessages } from './task-messages.tsx';
import './task.css';

export interface TaskPanelProps {
  at: RunAt;
  task: string;
}

const TABS = ['log', 'diff', 'messages', 'artifacts'] as const;
type Tab = (typeof TABS)[number];
const LABELS: Record<Tab, string> = {
  log: 'Log',
  diff: 'Diff',
  messages: 'Messages',
  artifacts: 'Artifacts',
};
const KEYS: Record<Tab, string> = { log: 'l', diff: 'd', messages: 'i', artifacts: 'a' };

export function TaskPanel({ at, task: id }: TaskPanelProps): ReactNode {
  const task = at.task(id);
  return task ? <Panel at={at} task={task} /> : null;
}

function Panel({ at, task }: { at: RunAt; task: TaskAt }): ReactNode {
  const { id } = task.facts;
  const { query } = usePlace();
  const tab = TABS.find((name) => name === query.get('tab')) ?? 'log';
  const facts = useMemo(() => soFar(at, id), [at, id]);
  const chosen = attemptIn(query, task);
  const saying = useSaying(at, task);
  const words = useKeptWords(`${at.repository} ${at.run.id} ${id}`);
  const { comments } = words;
  const setComments = (how: (now: readonly Comment[]) => readonly Comment[]): void =>
    words.change((now) => ({ comments: how(now.comments) }));
  const [isAllOpen, setAllOpen] = useState(false);
  const [isWrapped, setWrapped] = useState({ log: true, diff: matchMedia('(max-width: 760px)').matches });
  const shown = chosen === undefined ? facts.attempts : facts.attempts.filter(({ n }) => n === chosen);
  const left = lastLeft(shown);

  const show = (next: Tab): void => changeQuery({ tab: next === 'log' ? null : next });
  const chooseAttempt = (n: number): void =>
    changeQuery({ try: n === task.attempts.at(-1)?.n ? null : String(n) });
  const step = (by: 1 | -1): void => {
    const all = task.attempts.map(({ n }) => n);
    const next = all[all.indexOf(chosen ?? all.at(-1)!) + by];
    if (next !== undefined) chooseAttempt(next);
  };
  const isWide = tab === 'log' ? isWrapped.log : isWrapped.diff;
  const wrap = (): void =>
    setWrapped((before) => ({ ...before, [tab === 'diff' ? 'diff' : 'log']: !isWide }));
  useCommands([
    ...TABS.map((name) => ({
      id: `tab-${name}`,
      label: `${LABELS[name]} of ${spellControls(task.facts.label)}`,
      keys: KEYS[name],
      cli: cliOf(name, at, task, chosen),
      run: () => show(name),
    })),
    {
      id: 'attempt-before',
      label: 'Attempt before',
      keys: '[',
      isDisabled: task.attempts.length < 2,
      run: () => step(-1),
    },
    {
      id: 'attempt-next',
      label: 'Next attempt',
      keys: ']',
      isDisabled: task.attempts.length < 2,
      run: () => step(1),
    },
    {
      id: 'log-calls',
      label: isAllOpen ? 'Fold tool calls' : 'Open tool calls',
      keys: 't',
      run: () => setAllOpen(!isAllOpen),
    },
    { id: 'wrap', label: isWide ? 'Do not wrap lines' : 'Wrap lines', keys: 'w', run: wrap },
  ]);
  const comment = (said: Comment): void => {
    if (saying.mode === 'retry') return setComments((now) => [...now, said]);
    const sending: Comment = { ...said, state: 'sending' };
    setComments((now) => [...now, sending]);
    void saying.steer(tellComment(said)).then((isTold) =>
      setComments((now) =>
        // One that reached nobody is for the next attempt.
        now.map((each) => (each !== sending ? each : { ...each, state: isTold ? 'sent' : 'kept' })),
      ),
    );
  };
  const canComment = saying.mode === 'steer' || (saying.mode === 'retry' && saying.hasAgent);
  const kept = comments.filter(({ state }) => state === 'kept');
  return (
    <>
      <TaskHead at={at} task={task} soFar={facts} chosen={chosen} choose={chooseAttempt} />
      <Tabs
        tab={tab}
        show={show}
        counts={{ diff: left?.changedCount ?? 0, artifacts: left?.artifacts.length ?? 0 }}
      >
        {tab === 'log' && (
          <button
            className="fold"
            aria-pressed={isAllOpen}
            aria-keyshortcuts="t"
            onClick={() => setAllOpen(!isAllOpen)}
          >
            tool calls {isAllOpen ? 'open' : 'folded'} <Keys keys="t" />
          </button>
        )}
        {tab === 'diff' && left && (
          <button className="fold" aria-pressed={isWide} aria-keyshortcuts="w" onClick={wrap}>
            {isWide ? 'wrapped' : 'not wrapped'} <Keys keys="w" />
          </button>
        )}
      </Tabs>
      <div className="task-view" role="tabpanel" id="task-view" aria-labelledby={`task-tab-${tab}`}>
        {tab === 'log' && (
          <LogView
            at={at}
            task={id}
            attempt={chosen}
            isAllOpen={isAllOpen}
            isWrapped={isWrapped.log}
            nothing={<NoLog task={task} />}
          />
        )}
        {tab === 'diff' &&
          (left ? (
            <DiffView
              key={`${left.n} ${left.changedCount}`}
              of={{ repository: at.repository, run: at.run.id, task: id, attempt: left.n }}
              left={left.outside}
              isWrapped={isWrapped.diff}
              comments={comments}
              comment={canComment ? comment : undefined}
              forget={(said) => setComments((now) => now.filter((each) => each !== said))}
              doing={saying.mode === 'retry' ? 'Keep' : 'Send'}
            />
          ) : (
            <NoDiff touched={shown.at(-1)?.touched ?? []} isAtWork={shown.length > 0} />
          ))}
        {tab === 'messages' && <TaskMessages at={at} task={id} />}
        {tab === 'artifacts' && (
          <Artifacts at={at} task={id} attempt={left && left.artifacts.length > 0 ? left.n : undefined} />
        )}
      </div>
      <SayBox at={at} task={task} saying={saying} kept={kept} words={words} />
    </>
  );
}

interface TabsProps {
  tab: Tab;
  show(tab: Tab): void;
  counts: Partial<Record<Tab, number>>;
  children: ReactNode;
}

function Tabs({ tab, show, counts, children }: TabsProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const onArrow = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (TABS.indexOf(tab) + by + TABS.length) % TABS.length;
    show(TABS[next]!);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div className="view-tabs task-tabs">
      <div role="tablist" aria-label="Views of the task" ref={list} onKeyDown={onArrow}>
        {TABS.map((name) => (
          <button
            key={name}
            role="tab"
            id={`task-tab-${name}`}
            aria-selected={name === tab}
            aria-controls="task-view"
            aria-keyshortcuts={KEYS[name]}
            title={`Key ${KEYS[name]}`}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => show(name)}
          >
            {LABELS[name]} {(counts[name] ?? 0) > 0 && <small>{formatCount(counts[name]!)}</small>}
          </button>
        ))}
      </div>
      <span className="end">{children}</span>
    </div>
  );
}

function NoLog({ task: { view, facts } }: { task: TaskAt }): ReactNode {
  const hasBegun = view.attempt > 0;
  const isGroup = facts.kind !== 'work' && facts.kind !== 'approve';
  return (
    <div className="nothing">
      <b>
        {isGroup
          ? 'It stands for the tasks within it.'
          : hasBegun
            ? 'Nothing was said or printed by then.'
            : 'It had not begun by then.'}
      </b>
      {!hasBegun && facts.needs.length > 0 && (
        <p>It waits for {facts.needs.slice(0, 5).map(spellControls).join(', ')}.</p>
      )}
      {facts.title !== '' && <p className="title">{spellControls(facts.title)}</p>}
    </div>
  );
}

function NoDiff({ touched, isAtWork }: { touched: readonly string[]; isAtWork: boolean }): ReactNode {
  return (
    <div className="nothing">
      <b>{isAtWork ? 'Its changes are collected when the attempt ends.' : 'It had not begun by then.'}</b>
      {touched.length > 0 && (
        <>
          <p>Its agent says that it changed:</p>
          <ul className="touched">
            {touched.slice(0, 50).map((path) => (
              <li key={path}>
                <code>{spellControls(path)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** In the address; one that had not begun by then is none. */
function attemptIn(query: URLSearchParams, { attempts }: TaskAt): number | undefined {
  const n = Number(query.get('try') ?? NaN);
  return attempts.some((attempt) => attempt.n === n) ? n : undefined;
}

function cliOf(tab: Tab, { run }: RunAt, { facts }: TaskAt, attempt: number | undefined): string {
  const nth = attempt === undefined ? '' : ` --attempt ${attempt}`;
  switch (tab) {
    case 'log':
      return `bosun logs ${run.id} --task ${facts.id}`;
    case 'diff':
      return `bosun diff ${run.id} --task ${facts.id}${nth}`;
    case 'messages':
      return `bosun report ${run.id}`;
    default:
      return `bosun artifacts ${run.id} --task ${facts.id}${nth}`;
  }
}
