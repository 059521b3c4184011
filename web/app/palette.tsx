/** ⌘K: finds runs, tasks and repositories, and does whatever the page can do. What it shows was told elsewhere. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { plain } from '../parts/plain.ts';
import { Keys, useAllCommands } from './commands.tsx';
import { findWhat, type Found, useFindable } from './findable.ts';
import { usePlace } from './router.ts';
import './palette.css';

export function Palette({ onClose }: { onClose(): void }): ReactNode {
  const commands = useAllCommands();
  const place = usePlace();
  const findable = useFindable(place, commands);
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const found = useMemo(() => findWhat(findable.all, words), [findable.all, words]);
  const at = Math.min(chosen, Math.max(0, found.length - 1));
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at, found]);

  const act = (what: Found | undefined): void => {
    if (!what) return;
    onClose();
    what.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((at + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) act(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find or do" isBare onClose={onClose}>
      <input
        className="palette-words"
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        aria-label="Find or do"
        placeholder="Find or do…"
        spellCheck={false}
        autoComplete="off"
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul className="palette-list" role="listbox" id={id} aria-label="Found" ref={list}>
        {found.map((what, n) => (
          <li
            key={what.id}
            id={`${id}-${n}`}
            role="option"
            aria-selected={n === at}
            onMouseMove={() => setChosen(n)}
            onClick={() => act(what)}
          >
            <span className={`palette-sign ${what.tone ?? ''}`} aria-hidden="true">
              {what.sign}
            </span>
            <span className="palette-what">
              <b>{plain(what.label)}</b> <span className="quiet">{plain(what.about)}</span>
            </span>
            {what.keys !== undefined && (
              <span className="keys">
                <Keys keys={what.keys} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <p className="palette-foot quiet" role="status">
        {found.length === 0 ? saidOfNothing(findable.state, words) : plain(found[at]?.cli ?? ' ')}
      </p>
    </Dialog>
  );
}

function saidOfNothing(state: 'reading' | 'read' | 'failed', words: string): string {
  if (state === 'reading') return 'Looking…';
  if (state === 'failed') return 'The server does not answer; only what the page itself can do is found.';
  return `Nothing here is called “${words}”.`;
}
