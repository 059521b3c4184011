/** What a merge would bring: commits, files, and the lines that conflict. */
import type { ReactNode } from 'react';
import type { MergePreview } from '../../../src/contract/outputs.ts';
import { plain, plainText } from '../../parts/plain.ts';

const FILES_SHOWN_MAX = 200;
const COMMITS_SHOWN_MAX = 50;

export function Preview({ preview }: { preview: MergePreview }): ReactNode {
  const { kind, onto, branch, files, commits, commitCount, conflicts } = preview;
  const { blocked, check, unfinished } = preview;
  const where = <code>{plain(branch ?? 'your detached HEAD', 80)}</code>;
  if (kind === 'nothing') return <p>{where} has all of it already.</p>;
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const deleted = files.reduce((sum, file) => sum + (file.deleted ?? 0), 0);
  return (
    <div className="preview">
      <p>
        {kind === 'conflict' ? (
          <>
            <b className="bad">
              {conflicts.length === 1 ? 'One file conflicts' : `${conflicts.length} files conflict`}
            </b>{' '}
            with {where} at <code>{onto.slice(0, 8)}</code>.
          </>
        ) : (
          <>
            <b>{count(files.length, 'file')}</b> <span className="plus">+{added}</span>{' '}
            <span className="minus">−{deleted}</span> and <b>{count(commitCount, 'commit')}</b> into {where}{' '}
            at <code>{onto.slice(0, 8)}</code>: {HOW[kind]}.
          </>
        )}
      </p>
      {conflicts.map(({ path, text }) => (
        <div key={path} className="conflict">
          <code>{plain(path)}</code>
          {text === undefined ? (
            <p className="quiet">One side deleted or renamed it, or it is no text.</p>
          ) : (
            <pre className="wants" tabIndex={0} aria-label={`Conflict in ${plain(path, 100)}`}>
              {plainText(text)
                .split('\n')
                .map((line, n) => (
                  <span key={n} className={/^(<{7}|={7}|>{7})/.test(line) ? 'mark-line' : ''}>
                    {line}
                    {'\n'}
                  </span>
                ))}
            </pre>
          )}
        </div>
      ))}
      {kind === 'conflict' && (
        <p className="quiet">
          Nothing is changed. Commit or change your side, or merge by hand: <code>bosun merge</code> says
          which commit.
        </p>
      )}
      <details open={kind !== 'conflict' && files.length <= 12}>
        <summary>
          {kind === 'conflict' ? `What the run changed: ${count(files.length, 'file')}` : 'Files'}
        </summary>
        <ul className="changed">
          {files.slice(0, FILES_SHOWN_MAX).map((file) => (
            <li key={file.path}>
              <code>{plain(file.path)}</code>
              <span>
                {file.added === null ? (
                  <span className="quiet">binary</span>
                ) : (
                  <>
                    <span className="plus">+{file.added}</span> <span className="minus">−{file.deleted}</span>
                  </>
                )}
              </span>
            </li>
          ))}
          {files.length > FILES_SHOWN_MAX && (
            <li className="quiet">
              The first {FILES_SHOWN_MAX} of {files.length}; all of them: bosun merge --preview --json
            </li>
          )}
        </ul>
      </details>
      <details>
        <summary>Commits</summary>
        <ol className="changed">
          {commits.slice(0, COMMITS_SHOWN_MAX).map(({ commit, title }) => (
            <li key={commit}>
              <span>{plain(title, 200)}</span>
              <code className="quiet">{commit.slice(0, 8)}</code>
            </li>
          ))}
          {commitCount > Math.min(commits.length, COMMITS_SHOWN_MAX) && (
            <li className="quiet">and {commitCount - Math.min(commits.length, COMMITS_SHOWN_MAX)} more</li>
          )}
        </ol>
      </details>
      {unfinished !== undefined && <p className="blocked">Note: {plain(unfinished, 1000)}</p>}
      {check !== undefined && (
        <p className="quiet">
          First <code>{plain(check, 200)}</code> has to pass on the merged files.
        </p>
      )}
      {blocked !== undefined && (
        <p className="blocked" role="status">
          Not now: {plain(blocked, 1000)}
        </p>
      )}
    </div>
  );
}

const HOW = {
  'fast-forward': 'a fast-forward',
  merged: 'one merge commit',
  squashed: 'one commit',
} as const;

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
