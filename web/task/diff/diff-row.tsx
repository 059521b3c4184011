/** One row of a diff. All of it is text. */
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { formatCount } from '../../../src/base/format-count.ts';
import { spellControls } from '../../../src/report/text/plain.ts';
import { Keys } from '../../app/commands.tsx';
import type { Comment } from '../comments.ts';
import { whyClosed, type DiffRow } from './diff-rows.ts';
import type { DiffFile } from './use-diff.ts';

export interface DiffRowProps {
  row: DiffRow;
  isAtCursor: boolean;
  canComment: boolean;
  doing: string;
  toggle(file: DiffFile): void;
  compose(key: string | undefined): void;
  add(row: Extract<DiffRow, { kind: 'compose' }>, text: string): void;
  forget(comment: Comment): void;
}

const TEXT_CHARS_MAX = 10_000;
const CLASSES = { added: 'a', removed: 'r', hunk: 'h', same: '', note: 'n' };
const SIGNS = { added: '+', removed: '-', hunk: '', same: ' ', note: '\\' };

export function DiffRowView({
  row,
  isAtCursor,
  canComment,
  doing,
  toggle,
  compose,
  add,
  forget,
}: DiffRowProps): ReactNode {
  const style = { top: row.topPx, height: row.heightPx };
  const last = row.isLast ? ' last' : '';
  switch (row.kind) {
    case 'file': {
      const { file, isOpen } = row;
      const { added, deleted } = file;
      return (
        <h3 className={`d-file${last}`} style={style}>
          <button aria-expanded={isOpen} onClick={() => toggle(file)}>
            <span className="tri" aria-hidden="true">
              {isOpen ? '▾' : '▸'}
            </span>
            <span className="path">{spellControls(file.path)}</span>
            <span className="note">
              {[file.note, isOpen ? '' : whyClosed(file)].filter(Boolean).join(' · ')}
            </span>
            {added !== null && added > 0 && <span className="plus">+{formatCount(added)}</span>}
            {deleted !== null && deleted > 0 && <span className="minus">−{formatCount(deleted)}</span>}
          </button>
        </h3>
      );
    }
    case 'line': {
      const { line, parts, key } = row;
      const number = line.after ?? line.before;
      const canSpeak = canComment && number !== null;
      return (
        <div className={`d-line ${CLASSES[line.kind]}${last}${isAtCursor ? ' at' : ''}`} style={style}>
          {canSpeak ? (
            <button
              className="number"
              tabIndex={isAtCursor ? 0 : -1}
              aria-label={`Comment on line ${number}`}
              onClick={() => compose(key)}
            >
              {number}
            </button>
          ) : (
            <span className="number">{number}</span>
          )}
          <span className="code">
            {parts.map((part, n) => (
              <span key={n}>
                {n === 0 ? SIGNS[line.kind] : ' '}
                {part}
                {n < parts.length - 1 && '\n'}
              </span>
            ))}
          </span>
        </div>
      );
    }
    case 'said':
      return (
        <div className={`d-said quiet${last}`} style={style}>
          {spellControls(row.text)}
        </div>
      );
    case 'comment':
      return <CommentView comment={row.comment} style={style} last={last} forget={forget} />;
    default:
      return (
        <Compose
          style={style}
          place={`${spellControls(row.file.path)}:${row.line.after ?? row.line.before ?? 0}`}
          last={last}
          doing={doing}
          onAdd={(text) => add(row, text)}
          onCancel={() => compose(undefined)}
        />
      );
  }
}

function CommentView({
  comment,
  style,
  last,
  forget,
}: {
  comment: Comment;
  style: object;
  last: string;
  forget(comment: Comment): void;
}): ReactNode {
  const { text, state } = comment;
  return (
    <div className={`d-comment${last}`} style={style}>
      <p title={text}>{spellControls(text.replaceAll('\n', ' '))}</p>
      <span className="quiet">
        {state === 'kept'
          ? 'its next attempt is told'
          : state === 'sending'
            ? 'is sent…'
            : 'sent to its agent'}
        {state === 'kept' && (
          <button className="close" aria-label="Take the comment back" onClick={() => forget(comment)}>
            ×
          </button>
        )}
      </span>
    </div>
  );
}

interface ComposeProps {
  style: object;
  place: string;
  last: string;
  doing: string;
  onAdd(text: string): void;
  onCancel(): void;
}

function Compose({ style, place, last, doing, onAdd, onCancel }: ComposeProps): ReactNode {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []); // what is typed at once is meant for it
  const isEmpty = text.trim() === '';
  const done = (): void => {
    if (!isEmpty) onAdd(text.trim());
  };
  return (
    <form
      className={`d-compose${last}`}
      style={style}
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <textarea
        ref={field}
        aria-label={`Comment on ${place}`}
        placeholder={`What about ${place}?`}
        value={text}
        maxLength={TEXT_CHARS_MAX}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel();
          else if (
            event.key !== 'Enter' ||
            !(event.metaKey || event.ctrlKey) ||
            event.nativeEvent.isComposing
          )
            return;
          else done();
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div className="ends">
        <button type="button" className="act" onClick={onCancel}>
          Cancel <Keys keys="Escape" />
        </button>
        <button className="act main" disabled={isEmpty}>
          {doing} <Keys keys="mod+Enter" />
        </button>
      </div>
    </form>
  );
}
