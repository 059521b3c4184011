/** Asks before a run is cancelled: what stops, and what is kept. */
import { useState, type ReactNode } from 'react';
import { shownCounts } from '../../../src/contract/run.ts';
import { CommandButton } from '../../app/commands.tsx';
import { ask, runPath } from '../../data/api.ts';
import type { RunAt } from '../../film/run-at.ts';
import { Dialog, DialogEnd } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/use-act.ts';
import './acts.css';

export function CancelDialog({ at, onClose }: { at: RunAt; onClose(): void }): ReactNode {
  const { repository, run } = at;
  const [isNow, setNow] = useState(false);
  const { running = 0, asking = 0 } = shownCounts(run);
  const cancel = useAct(async () => {
    await ask(`${runPath(repository, run.id)}/cancel`, { body: isNow ? { now: true } : {} });
    onClose();
  });
  const works = running + asking;
  return (
    <Dialog title={`Cancel ${run.id}?`} onClose={onClose}>
      <p>
        {works === 0 ? 'No agent is at work.' : works === 1 ? 'One agent stops.' : `${works} agents stop.`}{' '}
        What is done stays done, and the work of the others is kept: you can resume the run later.
      </p>
      <label className="check">
        <input type="checkbox" checked={isNow} onChange={({ target }) => setNow(target.checked)} /> At once,
        without waiting for agents to stop by themselves
      </label>
      <DialogEnd>
        <code className="cmd">{`bosun cancel ${run.id}${isNow ? ' --now' : ''}`}</code>
        <CommandButton command={{ id: 'no', label: 'Keep it', run: onClose }} />
        <CommandButton
          main
          command={{
            id: 'do',
            label: cancel.isAtWork ? 'Cancelling…' : 'Cancel the run',
            isDisabled: cancel.isAtWork,
            run: cancel.act,
          }}
        />
      </DialogEnd>
    </Dialog>
  );
}
