/**
 * What can be done here and now. Each is told once, by the view that can do it; its key, its button, the palette (⌘K) and
 * the list of keys (?) all come of that. A button that is pressed and a key that is struck are the same.
 */
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';

export interface Command {
  id: string;
  label: string;
  /** A key as `KeyboardEvent.key` names it, or two after one another, such as `g h`. */
  keys?: string;
  /** What to type for it in a terminal. */
  cli?: string;
  isDisabled?: boolean;
  run(): void;
}

const told: Command[][] = [];
const listeners = new Set<() => void>();
let all: readonly Command[] = [];

/** As long as the view is shown. The latest to be told goes first where two have the same key. */
export function useCommands(commands: Command[]): void {
  const kept = useRef<Command[]>([]);
  useEffect(() => {
    told.push(kept.current);
    return () => {
      told.splice(told.indexOf(kept.current), 1);
      changed();
    };
  }, []);
  useEffect(() => {
    kept.current.splice(0, Infinity, ...commands);
    changed();
  });
}

/** All of them, the latest first. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
}

export function CommandButton({ command, main = false }: { command: Command; main?: boolean }): ReactNode {
  const { label, keys, cli, isDisabled = false } = command;
  return (
    <button
      className={main ? 'act main' : 'act'}
      disabled={isDisabled}
      title={cli}
      aria-keyshortcuts={keys}
      onClick={() => command.run()}
    >
      {label} {keys !== undefined && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}

/** Strikes of keys do what was told; none while somebody types. */
export function followKeys(): () => void {
  let first: string | undefined;
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target))
      return;
    const struck = first === undefined ? [event.key] : [`${first} ${event.key}`, event.key];
    first = undefined;
    const command = all.find(
      ({ keys, isDisabled }) => keys !== undefined && !isDisabled && struck.includes(keys),
    );
    if (command) {
      event.preventDefault();
      command.run();
    } else if (all.some(({ keys }) => keys?.startsWith(`${event.key} `))) first = event.key;
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

function changed(): void {
  all = told.toReversed().flat();
  for (const listener of listeners) listener();
}
