/** What can be done with a run: its budget, pause, cancel, try again, merge. What asks first is in a dialog of its own. */
import { useState, type ReactNode } from 'react';
import { isOpen } from '../../src/contract/run.ts';
import { CommandButton, useCommands, type Command } from '../app/commands.tsx';
import { ask, runPath } from '../data/api.ts';
import { useMay } from '../data/session.ts';
import type { RunAt } from '../film/run-at.ts';
import { goOn, goOnCli, goOnLabel } from '../home/go-on.ts';
import { useAct } from '../parts/use-act.ts';
import { BudgetDialog } from './acts/budget-dialog.tsx';
import { CancelDialog } from './acts/cancel-dialog.tsx';
import { MergeDialog } from './acts/merge-dialog.tsx';

export function RunActions({ at }: { at: RunAt }): ReactNode {
  const { repository, run, state } = at;
  const [open, setOpen] = useState<'budget' | 'cancel' | 'merge'>();
  const mayAct = useMay('run');
  const path = runPath(repository, run.id);
  const again = useAct(() => goOn(repository, run.id));
  const pause = useAct(() => ask(`${path}/pause`, { body: {} }));
  const unpause = useAct(() => ask(`${path}/unpause`, { body: {} }));
  const isDriven = isOpen({ state }) && state !== 'interrupted';
  const standsStill = ['interrupted', 'failed', 'cancelled'].includes(state);
  const isMerged = run.landed?.head === run.headCommit;
  const commands: Command[] = [
    ...(state === 'running' || state === 'paused'
      ? [
          state === 'paused'
            ? { id: 'pause', label: 'Continue', keys: 'p', cli: `bosun resume ${run.id}`, run: unpause.act }
            : { id: 'pause', label: 'Pause', keys: 'p', cli: `bosun pause ${run.id}`, run: pause.act },
        ]
      : []),
    ...(state === 'done'
      ? []
      : [
          {
            id: 'budget',
            label: 'Budget',
            keys: 'b',
            cli: `bosun budget ${run.id}`,
            run: () => setOpen('budget'),
          },
        ]),
    ...(isDriven || state === 'interrupted'
      ? [
          {
            id: 'cancel',
            label: 'Cancel',
            keys: 'C',
            cli: `bosun cancel ${run.id}`,
            run: () => setOpen('cancel'),
          },
        ]
      : []),
    ...(standsStill
      ? [
          {
            id: 'again',
            label: again.isAtWork ? 'Starting…' : goOnLabel(state),
            keys: 'R',
            cli: goOnCli(run.id),
            isDisabled: again.isAtWork,
            isCostly: true,
            run: again.act,
          },
        ]
      : []),
    {
      id: 'merge',
      label: isMerged ? 'Merged' : 'Merge',
      keys: 'm',
      cli: `bosun merge ${run.id} --preview`,
      isDisabled: isDriven,
      run: () => setOpen('merge'),
    },
  ];
  const shown = mayAct && at.isLive ? commands : [];
  useCommands(shown);
  const close = (): void => setOpen(undefined);
  return (
    <>
      <div className="acts">
        {shown.map((command) => (
          <CommandButton
            key={command.id}
            command={command}
            main={command.id === (standsStill ? 'again' : 'merge') && !command.isDisabled && !isMerged}
          />
        ))}
      </div>
      {open === 'budget' && <BudgetDialog at={at} onClose={close} />}
      {open === 'cancel' && <CancelDialog at={at} onClose={close} />}
      {open === 'merge' && <MergeDialog at={at} onClose={close} />}
    </>
  );
}
