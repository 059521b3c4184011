/** What comes from the server as it happens: one stream of the events of all repositories, handed on in batches. */
import type { Recorded } from '../../src/contract/event.ts';
import { setLink } from './link.ts';

/** An event, and where in its repository's events whoever has seen it stands. */
export type Streamed = Recorded & { repository: string; cursor: string };

type Listener = (events: readonly Streamed[]) => void;

const BATCH_MS = 50;
const listeners = new Set<{ repository: string | null; listener: Listener }>();
let source: EventSource | undefined;
let batch: Streamed[] = [];

/**
 * As long as what it gives was not called. Without what programs print. Some may be told twice: whoever counts them goes
 * by their cursor. `null` for all repositories.
 */
export function onEvents(repository: string | null, listener: Listener): () => void {
  const entry = { repository, listener };
  listeners.add(entry);
  open();
  return () => {
    listeners.delete(entry);
  };
}

function open(): void {
  if (source) return;
  source = new EventSource('/api/events?withoutOutput=true');
  source.addEventListener('open', () => setLink({ state: 'live' }));
  source.addEventListener('error', () => setLink({ state: 'lost', sinceMs: Date.now() }));
  source.addEventListener('message', ({ data, lastEventId }: MessageEvent<string>) => {
    const event = JSON.parse(data) as Streamed;
    if (batch.length === 0) setTimeout(handOn, BATCH_MS);
    batch.push({ ...event, cursor: cursorIn(lastEventId, event.repository) });
  });
}

function handOn(): void {
  const told = batch;
  batch = [];
  for (const { repository, listener } of listeners) {
    const own = repository === null ? told : told.filter((event) => event.repository === repository);
    if (own.length > 0) listener(own);
  }
}

/** The id of an event of all repositories says where the reader stands in each of them. */
function cursorIn(id: string, repository: string): string {
  const part = id.split(',').find((each) => each.startsWith(`${repository}:`));
  return part?.slice(repository.length + 1) ?? '0.0';
}
