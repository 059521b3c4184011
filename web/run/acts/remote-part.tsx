/** Pushes what a run did as a branch, or opens a pull request of it. Nothing leaves the machine before the button. */
import { useState, type FormEvent, type ReactNode } from 'react';
import type { PullRequest, Pushed } from '../../../src/contract/outputs.ts';
import type { z } from 'zod';
import { Keys } from '../../app/commands.tsx';
import { ask, Problem, runPath } from '../../data/api.ts';
import type { RunAt } from '../../film/run-at.ts';
import { DialogEnd } from '../../parts/dialog.tsx';
import { plain } from '../../parts/plain.ts';
import { useAct } from '../../parts/use-act.ts';
import { Refusal } from './refusal.tsx';

interface RemoteProps {
  at: RunAt;
  kind: 'push' | 'pr';
  onClose(): void;
}

type Came = Partial<z.output<typeof Pushed> & z.output<typeof PullRequest>>;

export function RemotePart({ at, kind, onClose }: RemoteProps): ReactNode {
  const { repository, run } = at;
  const [branch, setBranch] = useState('');
  const [title, setTitle] = useState('');
  const [isDraft, setDraft] = useState(false);
  const [came, setCame] = useState<Came>();
  const [problem, setProblem] = useState<Problem>();
  const isPr = kind === 'pr';
  const send = useAct(async () => {
    setProblem(undefined);
    const body = {
      ...(branch.trim() !== '' && { branch: branch.trim() }),
      ...(isPr && title.trim() !== '' && { title: title.trim() }),
      ...(isPr && isDraft && { draft: true }),
    };
    try {
      setCame(await ask<Came>(`${runPath(repository, run.id)}/${kind}`, { body }));
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 0) throw error;
      setProblem(error);
    }
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    send.act();
  };
  const typed = [
    `bosun ${kind} ${run.id}`,
    branch.trim() !== '' && `--branch ${branch.trim()}`,
    isPr && title.trim() !== '' && '--title …',
    isPr && isDraft && '--draft',
  ].filter(Boolean);
  if (came) return <Sent came={came} onClose={onClose} />;
  return (
    <form className="remote" onSubmit={onSubmit}>
      <p className="quiet">
        {isPr
          ? 'Pushes the run’s branch to your remote, and opens a pull request of it.'
          : 'Pushes the run’s branch to your remote. Your own branch stays as it is.'}
      </p>
      <label>
        <span>Branch</span>
        <input
          className="field"
          placeholder={run.branch}
          value={branch}
          onChange={({ target }) => setBranch(target.value)}
        />
      </label>
      {isPr && (
        <>
          <label>
            <span>Title</span>
            <input
              className="field"
              placeholder="made of its tasks"
              value={title}
              onChange={({ target }) => setTitle(target.value)}
            />
          </label>
          <label className="check">
            <input type="checkbox" checked={isDraft} onChange={({ target }) => setDraft(target.checked)} />{' '}
            Draft
          </label>
        </>
      )}
      {problem && <Refusal problem={problem} />}
      <DialogEnd>
        <code className="cmd">{plain(typed.join(' '), 200)}</code>
        <button className="act main" disabled={send.isAtWork}>
          {send.isAtWork ? 'Sending…' : isPr ? 'Open a pull request' : 'Push'} <Keys keys="Enter" />
        </button>
      </DialogEnd>
    </form>
  );
}

function Sent({ came, onClose }: { came: Came; onClose(): void }): ReactNode {
  const url = came.url !== undefined && came.url.startsWith('https://') ? came.url : undefined;
  return (
    <>
      <p role="status">
        <b className="good">✓</b>{' '}
        {came.branch === undefined ? (
          'Done.'
        ) : (
          <>
            It is on <code>{plain(came.branch, 200)}</code>.
          </>
        )}
      </p>
      {url !== undefined && (
        <p>
          <a className="link" href={url} target="_blank" rel="noreferrer noopener">
            {plain(url, 300)}
          </a>
        </p>
      )}
      <DialogEnd>
        <button className="act" onClick={onClose}>
          Close <Keys keys="Escape" />
        </button>
      </DialogEnd>
    </>
  );
}
