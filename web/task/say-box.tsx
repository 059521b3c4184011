/** Says something to a task: to its agent at once, or to its next attempt. Shows what one would type for it. */
import { useRef, useState, type ReactNode } from 'react';
import { spellControls } from '../../src/report/text/plain.ts';
import { CommandButton, Keys, useCommands, type Command } from '../app/commands.tsx';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { tellComments, type Comment } from './comments.ts';
import type { useKeptWords } from './kept-words.ts';
import type { Saying } from './saying.ts';

export interface SayBoxProps {
  at: RunAt;
  task: TaskAt;
  saying: Saying;
  /** Those that the next attempt is told. */
  kept: readonly Comment[];
  words: ReturnType<typeof useKeptWords>;
}

const TEXT_CHARS_MAX = 60_000;

export function SayBox({ at, task: { facts }, saying, kept, words }: SayBoxProps): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const { text } = words;
  const [isBusy, setBusy] = useState(false);
  /** What was meant by what is written: its agent may have ended since. */
  const begun = useRef(text === '' ? undefined : saying.mode);
  const [isLate, setLate] = useState(false);
  const { mode, hasAgent, why } = saying;
  const label = spellControls(facts.label);
  const canSay = mode === 'steer' || (mode === 'retry' && hasAgent && why === '');
  const send = async (): Promise<void> => {
    if (isBusy || (mode === 'steer' && text.trim() === '')) return;
    setBusy(true);
    const isTold =
      mode === 'steer'
        ? await saying.steer(text.trim())
        : await saying.retry(tellComments(kept, text.trim()));
    setBusy(false);
    if (!isTold) return;
    words.change(() => ({ text: '', ...(mode === 'retry' && { comments: [] }) }));
    setLate(false);
  };
  /** Where Enter would start an attempt that nobody asked for, the button has to be pressed. */
  const enter = (): void => {
    if (mode === 'retry' && text.trim() === '') return;
    if (mode === begun.current) void send();
    else setLate(true);
  };
  const feedback = text.trim() === '' && kept.length === 0 ? '' : ` --feedback ${quoted(text.trim() || '…')}`;
  const again: Command = {
    id: 'task-retry',
    label:
      isBusy && mode === 'retry'
        ? 'Starting…'
        : kept.length > 0
          ? `Try again with ${kept.length === 1 ? 'the comment' : `${kept.length} comments`}`
          : 'Try again',
    keys: 'r',
    cli: `bosun retry ${facts.id} --run ${at.run.id}${feedback}`,
    isDisabled: mode !== 'retry' || why !== '' || isBusy,
    isCostly: true,
    run: () => void send(),
  };
  const speak: Command = {
    id: 'task-say',
    label: mode === 'retry' ? `Tell the next attempt of ${label}` : `Say something to ${label}`,
    keys: '/',
    cli: mode === 'retry' ? `bosun retry ${facts.id} --feedback "…"` : `bosun steer ${facts.id} "…"`,
    isDisabled: !canSay,
    run: () => field.current?.focus(),
  };
  useCommands([speak, again]);
  if (mode === 'none' && why === '') return null;
  return (
    <form
      className="steer"
      onSubmit={(event) => {
        event.preventDefault();
        enter();
      }}
    >
      {canSay ? (
        <label>
          <span className="unseen">{speak.label}</span>
          <textarea
            ref={field}
            rows={1}
            value={text}
            maxLength={TEXT_CHARS_MAX}
            placeholder={
              mode === 'retry' ? 'What should its next attempt do differently?' : `Say something to ${label}…`
            }
            aria-keyshortcuts="/"
            onChange={({ target }) => {
              if (text === '') begun.current = mode;
              const { value } = target;
              words.change(() => ({ text: value }));
            }}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur();
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              enter();
            }}
          />
          {text === '' && <Keys keys="/" />}
        </label>
      ) : (
        <p className="quiet">{why}</p>
      )}
      {mode === 'steer' && text.trim() !== '' && (
        <button className="act main" disabled={isBusy}>
          {isBusy ? 'Sending…' : 'Send'} <Keys keys="Enter" />
        </button>
      )}
      {isLate && mode === 'retry' && (
        <p className="quiet" role="status">
          Its attempt has ended. Press “{again.label}” to tell its next one instead.
        </p>
      )}
      {mode === 'retry' && <CommandButton command={again} main={why === ''} />}
      {text.trim() !== '' && (
        <p className="cmd">
          = {mode === 'steer' ? `bosun steer ${facts.id} ${quoted(text.trim())}` : again.cli}
        </p>
      )}
    </form>
  );
}

/** As a shell takes it, in one line. */
function quoted(text: string): string {
  const [line = ''] = text.split('\n');
  const short = line.length > 60 ? `${line.slice(0, 60).toWellFormed()}…` : line;
  return `'${spellControls(short).replaceAll("'", "'\\''")}'`;
}
