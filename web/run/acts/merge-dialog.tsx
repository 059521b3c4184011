/** Brings what a run did to where people want it: into their branch, to a remote, as a pull request; and takes it back. */
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import type { Merged, MergePreview, MergeUndone } from '../../../src/contract/outputs.ts';
import { CommandButton, Keys } from '../../app/commands.tsx';
import { ask, Problem, runPath } from '../../data/api.ts';
import { refreshRun } from '../../data/home-store.ts';
import type { RunAt } from '../../film/run-at.ts';
import { Dialog, DialogEnd } from '../../parts/dialog.tsx';
import { useNotice } from '../../parts/notice.tsx';
import { plain } from '../../parts/plain.ts';
import { clock } from '../../parts/since.ts';
import { useAct } from '../../parts/use-act.ts';
import { Preview } from './merge-preview.tsx';
import { Refusal } from './refusal.tsx';
import { RemotePart } from './remote-part.tsx';
import './acts.css';

type Where = 'here' | 'push' | 'pr';

export function MergeDialog({ at, onClose }: { at: RunAt; onClose(): void }): ReactNode {
  const { run } = at;
  const [where, setWhere] = useState<Where>('here');
  return (
    <Dialog title={`Merge ${run.id}`} size="wide" onClose={onClose}>
      <div className="segments" role="radiogroup" aria-label="Where to">
        {(
          [
            ['here', 'Into your branch'],
            ['push', 'Push'],
            ['pr', 'Pull request'],
          ] as const
        ).map(([value, label]) => (
          <button
            key={value}
            type="button"
            role="radio"
            aria-checked={where === value}
            onClick={() => setWhere(value)}
          >
            {label}
          </button>
        ))}
      </div>
      {where === 'here' ? (
        <Here at={at} onClose={onClose} />
      ) : (
        <RemotePart key={where} at={at} kind={where} onClose={onClose} />
      )}
    </Dialog>
  );
}

const DID = { 'fast-forward': 'fast-forwarded', merged: 'merged', squashed: 'squashed', nothing: 'merged' };

function Here({ at, onClose }: { at: RunAt; onClose(): void }): ReactNode {
  const { repository, run } = at;
  const path = `${runPath(repository, run.id)}/merge`;
  const [squash, setSquash] = useState(false);
  const [preview, setPreview] = useState<MergePreview>();
  const [problem, setProblem] = useState<Problem>();
  const notice = useNotice();
  const look = useCallback(
    (signal?: AbortSignal) => {
      ask<MergePreview>(path, { query: { squash: squash || undefined }, ...(signal && { signal }) }).then(
        (found) => {
          setPreview(found);
          setProblem(undefined);
        },
        (error: unknown) => error instanceof Problem && setProblem(error),
      );
    },
    [path, squash],
  );
  useEffect(() => {
    const stop = new AbortController();
    look(stop.signal);
    return () => stop.abort();
  }, [look, run.landed]);
  const merge = useAct(async () => {
    setProblem(undefined);
    try {
      const shown = preview && { head: preview.head, onto: preview.onto };
      const merged = await ask<Merged>(path, { body: { ...shown, ...(squash && { squash }) } });
      notice.good(
        `${merged.branch ?? 'Your detached HEAD'} is ${DID[merged.kind]}: ${merged.head.slice(0, 8)}.`,
      );
      refreshRun(repository, run.id);
      onClose();
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 0) throw error;
      setProblem(error);
      if (error.code === 'conflict' || error.code === 'wrong-state') look();
    }
  });
  const mayMerge = preview !== undefined && preview.kind !== 'nothing' && preview.kind !== 'conflict';
  // All at once: nothing moves under who is about to press something.
  if (!preview && !problem) return <p className="quiet">Looking what would change…</p>;
  return (
    <>
      <Landed at={at} onClose={onClose} />
      {preview && <Preview preview={preview} />}
      {problem && <Refusal problem={problem} />}
      {(mayMerge || preview?.kind === 'conflict') && (
        <form
          className="merge-end"
          onSubmit={(event) => {
            event.preventDefault();
            merge.act();
          }}
        >
          {mayMerge && (
            <label className="check">
              <input type="checkbox" checked={squash} onChange={({ target }) => setSquash(target.checked)} />{' '}
              Squash: one commit with all of it
            </label>
          )}
          <DialogEnd>
            <code className="cmd">{`bosun merge ${run.id}${squash ? ' --squash' : ''}`}</code>
            <CommandButton command={{ id: 'close', label: 'Close', keys: 'Escape', run: onClose }} />
            <button
              className="act main"
              ref={focusOn}
              disabled={!mayMerge || preview?.blocked !== undefined || merge.isAtWork}
            >
              {merge.isAtWork
                ? preview?.check === undefined
                  ? 'Merging…'
                  : 'Checking…'
                : `Merge into ${plain(preview?.branch ?? 'HEAD', 40)}`}{' '}
              <Keys keys="Enter" />
            </button>
          </DialogEnd>
        </form>
      )}
    </>
  );
}

/** As it comes, which is after the dialog has opened: Enter is what it says. */
function focusOn(button: HTMLElement | null): void {
  button?.focus();
}

/** The last merge of it, and the way back. */
function Landed({ at, onClose }: { at: RunAt; onClose(): void }): ReactNode {
  const { repository, run } = at;
  const { landed } = run;
  const [problem, setProblem] = useState<Problem>();
  const notice = useNotice();
  const undo = useAct(async () => {
    setProblem(undefined);
    try {
      const path = `${runPath(repository, run.id)}/merge`;
      const { head, branch } = await ask<MergeUndone>(path, { method: 'DELETE' });
      notice.good(`Undone: ${branch ?? 'your detached HEAD'} is at ${head.slice(0, 8)} again.`);
      refreshRun(repository, run.id);
      onClose();
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 0) throw error;
      setProblem(error);
    }
  });
  if (!landed) return null;
  return (
    <div className="landed">
      <p>
        <b className="good">✓ merged</b> into <code>{plain(landed.branch ?? 'a detached HEAD', 80)}</code> by{' '}
        {plain(landed.by, 80)}, {clock(landed.atMs, Date.now())}: <code>{landed.from.slice(0, 8)}</code> →{' '}
        <code>{landed.to.slice(0, 8)}</code>
      </p>
      {problem && <Refusal problem={problem} />}
      <DialogEnd>
        <code className="cmd">{`bosun merge ${run.id} --undo`}</code>
        <CommandButton
          command={{
            id: 'undo',
            label: undo.isAtWork ? 'Undoing…' : 'Undo the merge',
            isDisabled: undo.isAtWork,
            run: undo.act,
          }}
        />
      </DialogEnd>
    </div>
  );
}
