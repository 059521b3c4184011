/** What an attempt changed, file by file: sizes first, what a program wrote closed. A line can be spoken of. */
import {
  useEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { useCommands } from '../../app/commands.tsx';
import { formatCount } from '../../../src/base/format-count.ts';
import { count } from '../../../src/report/words.ts';
import type { LeftOut } from '../../../src/contract/run.ts';
import { useMedia } from '../../parts/use-media.ts';
import type { Comment } from '../comments.ts';
import { useScroll } from '../use-scroll.ts';
import { DiffRowView } from './diff-row.tsx';
import { diffRows, rowAt, whyClosed, type DiffRow } from './diff-rows.ts';
import { useDiff, type DiffFile, type DiffOf } from './use-diff.ts';
import './diff.css';

export interface DiffViewProps {
  of: Omit<DiffOf, 'outside'> & { attempt: number };
  /** What its scope did not allow. */
  left: LeftOut | undefined;
  isWrapped: boolean;
  comments: readonly Comment[];
  /** What becomes of a comment; absent where nobody would read it. */
  comment?: ((comment: Comment) => void) | undefined;
  forget(comment: Comment): void;
  /** What a comment does: `Send`, or `Keep for the next attempt`. */
  doing: string;
}

const AHEAD_PX = 200;
const SHIFT_PX = 60;
/** What is left and right of the code. */
const BESIDE_PX = 110;
const LETTER_PX = 7.25;

export function DiffView({
  of,
  left,
  isWrapped,
  comments,
  comment,
  forget,
  doing,
}: DiffViewProps): ReactNode {
  const [isOutside, setOutside] = useState(false);
  const { diff, want, forgive } = useDiff({ ...of, outside: isOutside && left !== undefined });
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [composing, setComposing] = useState<string>();
  const [cursor, setCursor] = useState<string>();
  /** How far lines that are too long are moved to the left, all of them together. */
  const [shiftPx, setShift] = useState(0);
  const isPhone = useMedia('(max-width: 760px)');
  const [widthPx, setWidth] = useState(0);
  const files = diff.state === 'open' ? diff.files : NONE;
  const isRead = diff.state === 'open' && diff.isRead;
  const { rows, allPx, columnsMax } = useMemo(() => {
    const columns = isWrapped
      ? Math.max(20, Math.floor(((widthPx || 504) - (isPhone ? 84 : BESIDE_PX)) / LETTER_PX))
      : Infinity;
    const isOpen = (file: DiffFile): boolean => (whyClosed(file) === '') !== toggled.has(file.path);
    return diffRows(files, { isOpen, composing, comments }, { columns, isPhone });
  }, [files, toggled, composing, comments, isWrapped, widthPx, isPhone]);
  const { scroller, topPx, heightPx, widthPx: seenPx } = useScroll(allPx);
  useEffect(() => setWidth(seenPx), [seenPx]);
  const toggle = (file: DiffFile): void => {
    const next = new Set(toggled);
    if (!next.delete(file.path)) next.add(file.path);
    setToggled(next);
    if (file.problem !== undefined) forgive(file.path);
  };
  const first = rowAt(rows, topPx - AHEAD_PX);
  const end = Math.min(rows.length, rowAt(rows, topPx + heightPx + AHEAD_PX) + 1);
  // What is open and in view, and did not come with the rest.
  const unread = isRead ? [...new Set(rows.slice(first, end).flatMap(unreadOf))] : [];
  useEffect(() => want(unread), [unread.join('\n'), want]);
  const lines = useRef<readonly DiffRow[]>([]);
  lines.current = rows;
  const move = (by: 1 | -1): void => {
    const spoken = lines.current.filter((row) => row.kind === 'line' && row.line.kind !== 'hunk');
    const at = spoken.findIndex((row) => row.kind === 'line' && row.key === cursor);
    const from = at === -1 ? (by === 1 ? spoken.findIndex((row) => row.topPx >= topPx) - 1 : 0) : at;
    const next = spoken[Math.min(spoken.length - 1, Math.max(0, from + by))];
    if (next?.kind !== 'line') return;
    setCursor(next.key);
    const element = scroller.current!;
    if (next.topPx < element.scrollTop) element.scrollTop = next.topPx - 40;
    else if (next.topPx + next.heightPx > element.scrollTop + element.clientHeight)
      element.scrollTop = next.topPx + next.heightPx - element.clientHeight + 40;
  };
  const hiddenPx = Math.max(0, columnsMax * LETTER_PX + BESIDE_PX - seenPx);
  const canShift = !isWrapped && hiddenPx > 0;
  const shift = (byPx: number): void => setShift((before) => Math.min(hiddenPx, Math.max(0, before + byPx)));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget && (event.target as Element).closest('textarea, input')) return;
    if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && canShift) {
      event.preventDefault();
      event.stopPropagation();
      shift(event.key === 'ArrowRight' ? SHIFT_PX : -SHIFT_PX);
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      event.stopPropagation();
      move(event.key === 'ArrowDown' ? 1 : -1);
    }
  };
  useCommands([
    {
      id: 'diff-comment',
      label: 'Comment on the line',
      keys: 'c',
      isDisabled: !comment || files.length === 0,
      run: () => {
        if (cursor !== undefined) setComposing(cursor);
        else move(1);
      },
    },
  ]);
  const add = (row: Extract<DiffRow, { kind: 'compose' }>, text: string): void => {
    const { file, line, key } = row;
    setComposing(undefined);
    scroller.current?.focus();
    const sign = line.kind === 'added' ? '+ ' : line.kind === 'removed' ? '- ' : '';
    comment?.({
      key,
      path: file.path,
      line: line.after ?? line.before ?? 0,
      isBefore: line.after === null,
      attempt: of.attempt,
      quote: `${sign}${line.text}`,
      text,
      state: 'kept',
    });
  };
  return (
    <div className="diff-frame">
      {diff.state === 'open' && (
        <p className="diff-head">
          <Sum files={files} />
          {left && (
            <span className="which" role="group" aria-label="Which changes">
              <button aria-pressed={!isOutside} onClick={() => setOutside(false)}>
                Taken
              </button>
              <button aria-pressed={isOutside} onClick={() => setOutside(true)}>
                Outside its scope {formatCount(left.count)}
              </button>
            </span>
          )}
        </p>
      )}
      <div
        className="scroll diff"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Diff"
        onKeyDown={onKeyDown}
      >
        {diff.state === 'problem' && (
          <div className="nothing">
            <b>The diff cannot be read.</b>
            <p>{diff.message}</p>
            <button className="act" onClick={diff.again}>
              Try again
            </button>
          </div>
        )}
        {diff.state === 'open' && files.length === 0 && (
          <div className="nothing">
            <b>{isOutside ? 'Nothing else was left out.' : 'It changed no file.'}</b>
          </div>
        )}
        <div
          className="diff-rows"
          style={{ height: allPx, '--shift': `${canShift ? -shiftPx : 0}px` } as CSSProperties}
          onWheel={({ deltaX, deltaY, shiftKey }) => {
            const byPx = shiftKey ? deltaY : deltaX;
            if (canShift && byPx !== 0) shift(byPx);
          }}
        >
          {rows.slice(first, end).map((row, n) => (
            <DiffRowView
              key={first + n}
              row={row}
              isAtCursor={row.kind === 'line' && row.key === cursor}
              canComment={comment !== undefined}
              doing={doing}
              toggle={toggle}
              compose={setComposing}
              add={add}
              forget={forget}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const NONE: readonly DiffFile[] = [];

function unreadOf(row: DiffRow): string[] {
  if (row.kind !== 'file' && row.kind !== 'said') return [];
  const { path, lines, problem } = row.file;
  const isOpen = row.kind === 'said' || row.isOpen;
  return isOpen && !lines && problem === undefined ? [path] : [];
}

function Sum({ files }: { files: readonly DiffFile[] }): ReactNode {
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const deleted = files.reduce((sum, file) => sum + (file.deleted ?? 0), 0);
  return (
    <span className="quiet">
      <span className="plus">+{formatCount(added)}</span>{' '}
      <span className="minus">−{formatCount(deleted)}</span> in {count(files.length, 'file')}
    </span>
  );
}
