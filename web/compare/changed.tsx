/** What a candidate changed, to judge it by: all files with their figures, small ones first, and of each as much as one reads. */
import { Fragment, useEffect, useMemo, type ReactNode } from 'react';
import { formatCount } from '../../src/base/format-count.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { count } from '../../src/report/words.ts';
import { plain } from '../parts/plain.ts';
import { shownLine } from '../task/diff/diff-rows.ts';
import { useDiff, type DiffFile, type DiffOf } from '../task/diff/use-diff.ts';

const LINES_MAX = 500;
/** Of all files: what comes after them has its name and its figures. */
const LINES_IN_ALL_MAX = 5000;
const SIGNS = { hunk: '', added: '+', removed: '−', same: ' ', note: '' };

export function Changed({ of, label }: { of: DiffOf; label: string }): ReactNode {
  const { diff, want } = useDiff(of);
  const files = useMemo(() => (diff.state === 'open' ? withRoom(diff.files) : []), [diff]);
  const isRead = diff.state === 'open' && diff.isRead;
  // What came after the end of what is read at once; each file that has come asks for those that have not.
  useEffect(() => {
    if (isRead)
      want(
        files
          .filter(({ file, room }) => room > 0 && !file.lines && file.problem === undefined)
          .map(({ file }) => file.path),
      );
  }, [files, isRead, want]);
  if (diff.state === 'loading') return null;
  if (diff.state === 'problem') return <p className="problem">{diff.message}</p>;
  const cut = isRead ? files.filter(({ file, room }) => room < (file.lines?.length ?? 1)).length : 0;
  return (
    <>
      {cut > 0 && (
        <p className="problem">
          Not shown in whole: {formatCount(cut)} of {count(files.length, 'file')};{' '}
          <code>
            bosun diff {of.run} --task {spellControls(of.task)}
          </code>{' '}
          has all
        </p>
      )}
      <pre tabIndex={0} aria-label={`What ${plain(label)} changed`}>
        {files.length === 0 && <span className="quiet">changed nothing</span>}
        {files.map(({ file, room }) => (
          <Lines key={file.path} file={file} room={room} isRead={isRead} />
        ))}
      </pre>
    </>
  );
}

function Lines({ file, room, isRead }: { file: DiffFile; room: number; isRead: boolean }): ReactNode {
  const { path, note, added, deleted, lines, problem } = file;
  const left = (lines?.length ?? 0) - room;
  return (
    <Fragment>
      <span className="file">
        {spellControls(path)} <i className="quiet">{added === null ? 'binary' : spellControls(note)}</i>{' '}
        {added !== null && <i className="plus">+{formatCount(added)}</i>}{' '}
        {deleted !== null && <i className="minus">−{formatCount(deleted)}</i>}
      </span>
      {lines?.slice(0, room).map(({ kind, text }, n) => (
        <span key={n} className={kind}>
          {SIGNS[kind]}
          {shownLine(text)}
        </span>
      ))}
      {left > 0 && <span className="note">… and more, of {count(sizeOf(file), 'changed line')}</span>}
      {!lines && isRead && (
        <span className="note">
          {problem === undefined
            ? room === 0
              ? 'Its lines are not shown here'
              : 'Reading…'
            : spellControls(problem)}
        </span>
      )}
    </Fragment>
  );
}

/** A large file takes no room from a small one. */
function withRoom(files: readonly DiffFile[]): { file: DiffFile; room: number }[] {
  let left = LINES_IN_ALL_MAX;
  return [...files]
    .sort((a, b) => sizeOf(a) - sizeOf(b))
    .map((file) => {
      const room = Math.min(left, LINES_MAX);
      left -= Math.min(room, file.lines?.length ?? sizeOf(file));
      return { file, room };
    });
}

function sizeOf({ added, deleted }: DiffFile): number {
  return (added ?? 0) + (deleted ?? 0);
}
