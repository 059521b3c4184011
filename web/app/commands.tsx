/**
 * What can be done here and now. Each is told once, by the view that can do it; its key, its button, the palette (⌘K) and
 * the list of keys (?) all come of that. A button that is pressed and a key that is struck are the same.
 */
import {
  createContext,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
  type ReactNode,
} from 'react';

export interface Command {
  id: string;
  label: string;
  /** A key as `KeyboardEvent.key` names it, two after one another, such as `g h`, or one with ⌘ or Ctrl, such as `mod+k`. */
  keys?: string;
  /** What to type for it in a terminal. */
  cli?: string;
  isDisabled?: boolean;
  /** It starts what is paid for: its key alone only goes to its button, where Enter presses it. */
  isCostly?: boolean;
  run(): void;
}

/** What a dialog shows: while one is open nothing else listens to keys. */
export const InDialog = createContext(false);

interface Told {
  commands: Command[];
  isInDialog: boolean;
}

const told: Told[] = [];
const listeners = new Set<() => void>();
let all: readonly Command[] = [];

/** As long as the view is shown. The latest to be told goes first where two have the same key. */
export function useCommands(commands: Command[]): void {
  const isInDialog = useContext(InDialog);
  const kept = useRef<Command[]>([]);
  useEffect(() => {
    const mine = { commands: kept.current, isInDialog };
    told.push(mine);
    return () => {
      told.splice(told.indexOf(mine), 1);
      changed();
    };
  }, [isInDialog]);
  // Before anybody can strike the next key.
  useLayoutEffect(() => {
    const looksSame = isSame(kept.current, commands);
    kept.current.splice(0, Infinity, ...commands);
    if (!looksSame) changed();
  });
}

/** All that the page can do, the latest first; what a dialog tells is its own. */
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
  const { id, label, keys, cli, isDisabled = false } = command;
  return (
    <button
      type="button"
      data-command={id}
      className={main ? 'act main' : 'act'}
      disabled={isDisabled}
      title={cli}
      aria-keyshortcuts={keys === undefined ? undefined : ariaKeys(keys)}
      onClick={() => command.run()}
    >
      {label} {keys !== undefined && <Keys keys={keys} />}
    </button>
  );
}

/** A key, or several, as they are printed on a keyboard; a screen reader is told otherwise. */
export function Keys({ keys }: { keys: string }): ReactNode {
  return keys.split(' ').map((key, n) => (
    <kbd key={n} aria-hidden="true">
      {shownKey(key)}
    </kbd>
  ));
}

const IS_MAC = /Mac|iP/.test(navigator.platform);
const PRINTED: Record<string, string> = {
  Enter: '↵',
  Escape: 'Esc',
  Space: 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
};

function shownKey(key: string): string {
  const [, plain] = /^mod\+(.+)$/.exec(key) ?? [];
  if (plain === undefined) return PRINTED[key] ?? key;
  const printed = PRINTED[plain] ?? plain.toUpperCase();
  return IS_MAC ? `⌘${printed}` : `Ctrl ${printed}`;
}

function ariaKeys(keys: string): string {
  return keys.replace(/^mod\+(.+)$/, (_, key: string) => `Meta+${key} Control+${key}`);
}

/** Strikes of keys do what was told; while somebody types, only those with ⌘ or Ctrl. */
export function followKeys(): () => void {
  let first: string | undefined;
  const onKey = (event: KeyboardEvent): void => {
    const isMod = (event.metaKey || event.ctrlKey) && !event.altKey;
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    if (!isMod && (isTyping(event.target) || isPressing(event))) return;
    const key = isMod ? `mod+${event.key}` : event.key === ' ' ? 'Space' : event.key;
    const struck = first === undefined ? [key] : [`${first} ${key}`, key];
    first = undefined;
    const listening = commandsNow();
    const command = listening.find(
      ({ keys, isDisabled }) => keys !== undefined && !isDisabled && struck.includes(keys),
    );
    if (command) {
      event.preventDefault();
      if (!command.isCostly || isMod) command.run();
      else document.querySelector<HTMLElement>(`[data-command="${command.id}"]`)?.focus();
    } else if (listening.some(({ keys }) => keys?.startsWith(`${key} `))) first = key;
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function commandsNow(): readonly Command[] {
  const isOpen = document.querySelector('dialog[open]') !== null;
  return told.toReversed().flatMap(({ commands, isInDialog }) => (isInDialog === isOpen ? commands : []));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/** Whoever strikes it on a button means that button. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  if (key !== ' ' && key !== 'Enter') return false;
  return target instanceof Element && target.closest('button, a, summary') !== null;
}

/** What is shown of them is; what they do may be new. */
function isSame(before: readonly Command[], now: readonly Command[]): boolean {
  return (
    before.length === now.length &&
    before.every((each, n) => {
      const { id, label, keys, cli, isDisabled } = now[n]!;
      return (
        each.id === id &&
        each.label === label &&
        each.keys === keys &&
        each.cli === cli &&
        each.isDisabled === isDisabled
      );
    })
  );
}

function changed(): void {
  const own = told.toReversed().filter(({ isInDialog }) => !isInDialog);
  all = own.flatMap(({ commands }) =>
    commands.map((command) => ({
      ...command,
      run: () => commands.find(({ id }) => id === command.id)?.run(), // as it was told last
    })),
  );
  for (const listener of listeners) listener();
}
