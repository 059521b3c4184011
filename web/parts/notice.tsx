/** What became of an act, said in a corner: what went well goes by itself, what went wrong stays until it is read. */
import { useSyncExternalStore, type ReactNode } from 'react';
import { plainText } from './plain.ts';
import './notice.css';

interface Notice {
  good(text: string): void;
  /** In the server's own words. What was stopped on purpose is no news. */
  bad(error: unknown): void;
}

interface Said {
  n: number;
  tone: 'good' | 'bad';
  text: string;
}

const GOOD_MS = 6000;
const SHOWN_MAX = 4;
const listeners = new Set<() => void>();
let said: readonly Said[] = [];
let count = 0;

const notice: Notice = {
  good(text) {
    const n = say('good', text);
    setTimeout(() => forget(n), GOOD_MS);
  },
  bad(error) {
    if (error instanceof Error && error.name === 'AbortError') return;
    say('bad', error instanceof Error ? error.message : String(error));
  },
};

/** @public */
export function useNotice(): Notice {
  return notice;
}

/** Where they are shown; once on the page. */
export function Notices(): ReactNode {
  const all = useSyncExternalStore(listen, () => said);
  return (
    <div className="notices" role="region" aria-label="Notices">
      {all.map(({ n, tone, text }) => (
        <div key={n} className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
          <span className="sign" aria-hidden="true">
            {tone === 'bad' ? '✗' : '✓'}
          </span>
          <p>{plainText(text)}</p>
          <button className="close" aria-label="Close" onClick={() => forget(n)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

function say(tone: Said['tone'], text: string): number {
  count += 1;
  // the same trouble again is the same trouble
  const others = said.filter((each) => each.text !== text);
  said = [...others, { n: count, tone, text }].slice(-SHOWN_MAX);
  changed();
  return count;
}

function forget(n: number): void {
  said = said.filter((each) => each.n !== n);
  changed();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  for (const listener of listeners) listener();
}
