/** All keys that do something here and now, with what to type for the same in a terminal. */
import { useState, type ReactNode } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Keys, useAllCommands, type Command } from './commands.tsx';
import './keys-list.css';

/** Those that are no commands: lists and dialogs have them everywhere. */
const ALWAYS = [
  { keys: 'j k', label: 'Next and previous in a list' },
  { keys: 'Enter', label: 'Open what is chosen' },
  { keys: 'Escape', label: 'Back' },
];

export function KeysList({ onClose }: { onClose(): void }): ReactNode {
  const all = useAllCommands();
  const [commands] = useState(() => firstOfEach(all)); // as they were when it was opened
  const told = new Set(commands.map(({ keys }) => keys));
  const rest = ALWAYS.filter(({ keys }) => !told.has(keys));
  return (
    <Dialog title="Keys" size="wide" onClose={onClose}>
      <ul className="keys-list">
        {[...commands, ...rest].map(({ keys, label, ...command }) => (
          <li key={keys}>
            <span className="keys">
              <Keys keys={keys!} />
            </span>
            <span>
              {label} <span className="unseen">: {keys}</span>
            </span>
            {'cli' in command && command.cli !== undefined && <code className="cmd">{command.cli}</code>}
          </li>
        ))}
      </ul>
      <p className="quiet keys-note">None of them while you type, but those with ⌘ or Ctrl.</p>
    </Dialog>
  );
}

/** Where two have the same key the latest counts, as it does when it is struck. */
function firstOfEach(all: readonly Command[]): Command[] {
  const seen = new Set<string>();
  return all.filter(({ keys }) => keys !== undefined && !seen.has(keys) && seen.add(keys));
}
