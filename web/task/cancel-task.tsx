/** The button that cancels one task; it asks first. */
import { useState, type ReactNode } from 'react';
import { isOpen, isTaskOver } from '../../src/contract/run.ts';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { useMay } from '../data/session.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { cancelCli, CancelDialog } from '../run/acts/cancel-dialog.tsx';

export function CancelTask({ at, task: { facts, view } }: { at: RunAt; task: TaskAt }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const mayAct = useMay('run');
  const canEnd = mayAct && at.isLive && isOpen(at) && at.state !== 'pending' && !isTaskOver(view);
  const command: Command = {
    id: 'task-cancel',
    label: 'Cancel',
    keys: 'X',
    cli: cancelCli(at.run.id, facts.id),
    run: () => setAsking(true),
  };
  useCommands(canEnd ? [{ ...command, label: 'Cancel the task' }] : []);
  return (
    <>
      {canEnd && <CommandButton command={command} />}
      {isAsking && <CancelDialog at={at} task={facts} onClose={() => setAsking(false)} />}
    </>
  );
}
