/** What was said to a task by others of the run and by it, up to a moment. */
import { useMemo, type ReactNode } from 'react';
import type { RunAt } from '../film/run-at.ts';
import { changeQuery } from '../app/router.ts';
import { messageRows } from '../run/views/messages/message-rows.ts';
import { concerns, MessageLines } from '../run/views/messages/messages-view.tsx';

export function TaskMessages({ at, task }: { at: RunAt; task: string }): ReactNode {
  const rows = useMemo(() => messageRows(at).filter((row) => concerns(row, task)), [at, task]);
  if (rows.length === 0)
    return (
      <div className="nothing">
        <b>Nothing had been said to it or by it.</b>
        <p>
          Agents talk with <code>send</code> and <code>publish</code>. What you say to it is in its log.
        </p>
      </div>
    );
  return (
    <div className="scroll messages task-messages" tabIndex={0} role="region" aria-label="Its messages">
      <MessageLines
        rows={rows}
        at={at}
        choose={(other) => changeQuery({ task: other })}
        wind={(atMs) => changeQuery({ t: String(atMs) })}
      />
    </div>
  );
}
