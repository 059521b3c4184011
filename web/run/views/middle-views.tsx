/** The views of a run at a moment, one at a time: which one is in the address. */
import { useCallback, useMemo, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useCommands } from '../../app/commands.tsx';
import { changeQuery, usePlace } from '../../app/router.ts';
import type { RunAt } from '../../film/run-at.ts';
import { useMedia } from '../../parts/use-media.ts';
import { FilesView } from './files/files-view.tsx';
import { GraphView } from './graph/graph-view.tsx';
import { JournalView } from './journal/journal-view.tsx';
import { Latest } from './journal/latest.tsx';
import { MessagesView } from './messages/messages-view.tsx';
import { MoneyView } from './money/money-view.tsx';
import { TaskRows } from './task-rows.tsx';
import { TimelineView } from './timeline/timeline-view.tsx';
import './views.css';

export interface MiddleViewsProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
  wind(atMs: number): void;
}

const VIEWS = ['graph', 'timeline', 'files', 'money', 'messages', 'journal'] as const;
type ViewName = (typeof VIEWS)[number];

const LABELS: Record<ViewName, string> = {
  graph: 'Graph',
  timeline: 'Timeline',
  files: 'Files',
  money: 'Money',
  messages: 'Messages',
  journal: 'Journal',
};

export function MiddleViews(props: MiddleViewsProps): ReactNode {
  const view = viewIn(usePlace().query);
  const isPhone = useMedia('(max-width: 760px)');
  const tabs = useRef<HTMLDivElement>(null);
  const show = useCallback((next: ViewName) => changeQuery({ view: next === 'graph' ? null : next }), []);
  useCommands(
    useMemo(
      () =>
        VIEWS.map((name, n) => ({
          id: `view-${name}`,
          label: `Show ${LABELS[name].toLowerCase()}`,
          keys: String(n + 1),
          run: () => show(name),
        })),
      [show],
    ),
  );
  const onArrow = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = (VIEWS.indexOf(view) + by + VIEWS.length) % VIEWS.length;
    show(VIEWS[next]!);
    tabs.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div className="views">
      <div className="view-tabs">
        <div role="tablist" aria-label="Views of the run" ref={tabs} onKeyDown={onArrow}>
          {VIEWS.map((name) => (
            <button
              key={name}
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === view}
              aria-controls="view"
              tabIndex={name === view ? 0 : -1}
              onClick={() => show(name)}
            >
              {name === 'graph' && isPhone ? 'Tasks' : LABELS[name]}
            </button>
          ))}
        </div>
        <span className="end" aria-hidden="true">
          <kbd>1</kbd>–<kbd>{VIEWS.length}</kbd>
        </span>
      </div>
      <div className={`view ${view}`} role="tabpanel" id="view" aria-labelledby={`tab-${view}`}>
        <View name={view} isPhone={isPhone} {...props} />
      </div>
    </div>
  );
}

function View({
  name,
  isPhone,
  ...props
}: MiddleViewsProps & { name: ViewName; isPhone: boolean }): ReactNode {
  switch (name) {
    case 'timeline':
      return <TimelineView {...props} />;
    case 'files':
      return <FilesView {...props} />;
    case 'money':
      return <MoneyView {...props} />;
    case 'messages':
      return <MessagesView {...props} />;
    case 'journal':
      return <JournalView {...props} />;
    default:
      return (
        <>
          {isPhone ? <TaskRows {...props} /> : <GraphView {...props} />}
          <Latest {...props} />
        </>
      );
  }
}

function viewIn(query: URLSearchParams): ViewName {
  const asked = query.get('view');
  return VIEWS.find((name) => name === asked) ?? 'graph';
}
