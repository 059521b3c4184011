/** Asks before a run, or one task of it, is cancelled: what stops, and what is kept. */
import { useState, type ReactNode } from 'react';
import { spellControls } from '../../../src/report/text/plain.ts';
import { shownCounts } from '../../../src/contract/run.ts';
import { CommandButton } from '../../app/commands.tsx';
import { ask, runPath } from '../../data/api.ts';
import type { RunAt, TaskAt } from '../../film/run-at.ts';
import { Dialog, DialogEnd } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/use-act.ts';
import './acts.css';

export interface CancelDialogProps {
  at: RunAt;
  /** The one task that is meant. */
  task?: TaskAt['facts'];
  onClose(): void;
}

export function CancelDialog({ at, task, onClose }: CancelDialogProps): ReactNode {
  const { repository, run } = at;
  const [isNow, setNow] = useState(false);
  const cancel = useAct(async () => {
    const body = { ...(task && { task: task.id }), ...(isNow && { now: true }) };
    await ask(`${runPath(repository, run.id)}/cancel`, { body });
    onClose();
  });
  const what = spellControls(task?.label ?? run.id);
  return (
    <Dialog title={`Cancel ${what}?`} onClose={onClose}>
      {task ? (
        <p>
          It stops, with the tasks within it; those that need it are skipped, the others go on. Its work is
          kept: you can try it again later.
        </p>
      ) : (
        <>
          <p>
            {stops(at)} What is done stays done, and the work of the others is kept: you can resume the run
            later.
          </p>
          <label className="check">
            <input type="checkbox" checked={isNow} onChange={({ target }) => setNow(target.checked)} /> At
            once, without waiting for agents to stop by themselves
          </label>
        </>
      )}
      <DialogEnd>
        <code className="cmd">{cancelCli(run.id, task?.id) + (isNow ? ' --now' : '')}</code>
        <CommandButton command={{ id: 'no', label: 'Keep it', run: onClose }} />
        <CommandButton
          main
          command={{
            id: 'do',
            label: cancel.isAtWork ? 'Cancelling…' : `Cancel the ${task ? 'task' : 'run'}`,
            isDisabled: cancel.isAtWork,
            run: cancel.act,
          }}
        />
      </DialogEnd>
    </Dialog>
  );
}

export function cancelCli(run: string, task?: string): string {
  return `bosun cancel ${run}${task === undefined ? '' : ` ${task}`}`;
}

function stops({ run }: RunAt): string {
  const { running = 0, asking = 0 } = shownCounts(run);
  const works = running + asking;
  return works === 0 ? 'No agent is at work.' : works === 1 ? 'One agent stops.' : `${works} agents stop.`;
}
