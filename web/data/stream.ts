/** What comes from the server as it happens, for the views of this tab: events of all repositories, in batches. */
import { carry, carryAlone } from './carriers.ts';
import { SILENT_MS, type Streamed, type Told } from './hub.ts';
import { setLink } from './link.ts';
import { lockSession } from './session.ts';

export type { Streamed } from './hub.ts';

type Listener = (events: readonly Streamed[]) => void;

const LOOK_MS = 1000;
/** The carrier lets itself be heard also while the server does not. */
const DEAD_MS = SILENT_MS + 5000;
/** So often it is asked to say something before this tab goes on without it. */
const WAKES = 4;
const listeners = new Set<{ repository: string | null; listener: Listener }>();
const standers = new Set<{ repository: string | null; listener(): void }>();
/** Of which repositories nothing is missed from now on. */
const standing = new Set<string>();
let told: Pick<Told, 'epoch' | 'id'> | undefined;
let heardAtMs = 0;
let isOpen = false;

/**
 * As long as what it gives was not called. Without what programs print. Some may be told twice: whoever counts them goes
 * by their `seq`. `null` for all repositories.
 */
export function onEvents(repository: string | null, listener: Listener): () => void {
  const entry = { repository, listener };
  listeners.add(entry);
  open();
  return () => {
    listeners.delete(entry);
  };
}

/**
 * Told whenever the stream stands anew in a repository: from then on nothing is missed, and what came before may have
 * been. Whoever reads for itself reads on from where it is. Called at once where it stands already.
 */
export function onStanding(repository: string | null, listener: () => void): () => void {
  const entry = { repository, listener };
  standers.add(entry);
  open();
  if (repository === null ? standing.size > 0 : standing.has(repository)) listener();
  return () => {
    standers.delete(entry);
  };
}

function open(): void {
  if (isOpen) return;
  isOpen = true;
  heardAtMs = Date.now();
  /** A stream of its own, for as long as the carrier says nothing. */
  let own: ReturnType<typeof carryAlone> | undefined;
  let unheard = 0;
  const standsAt = (): typeof told => told;
  const alone = (): void => {
    own ??= carryAlone({ tell: heard, standsAt });
  };
  const tell = (said: Told): void => {
    own?.stop();
    own = undefined;
    unheard = 0;
    heard(said);
  };
  const carrier = carry({ tell, standsAt }, alone);
  const look = (): void => {
    const silentMs = Date.now() - heardAtMs;
    if (silentMs >= SILENT_MS) setLink({ state: 'lost', sinceMs: heardAtMs });
    if (silentMs < DEAD_MS || own) return;
    // After sleep the clock is far ahead of what was heard, and the carrier is well.
    if (unheard++ < WAKES) carrier.wake();
    else alone();
  };
  setInterval(look, LOOK_MS);
  // The browser had put this tab aside, where nothing reached it.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) standing.clear();
  });
}

function heard({ epoch, id, events, lostSinceMs, isLocked }: Told): void {
  heardAtMs = Date.now();
  if (isLocked) lockSession();
  if (epoch !== told?.epoch) standing.clear();
  told = { epoch, id };
  if (lostSinceMs === undefined) stand(id); // before any event of it: whoever reads on keeps those for later
  handOn(events);
  setLink(lostSinceMs === undefined ? { state: 'live' } : { state: 'lost', sinceMs: lostSinceMs });
}

function stand(id: string): void {
  if (id === '') return;
  const names = id.split(',').map((each) => each.slice(0, each.indexOf(':')));
  const fresh = names.filter((name) => !standing.has(name));
  if (fresh.length === 0 && names.length === standing.size) return;
  standing.clear(); // also of those that are served no longer
  for (const name of names) standing.add(name);
  for (const { repository, listener } of standers)
    if (repository === null || fresh.includes(repository)) listener();
}

function handOn(events: readonly Streamed[]): void {
  if (events.length === 0) return;
  for (const { repository, listener } of listeners) {
    const own = repository === null ? events : events.filter((event) => event.repository === repository);
    if (own.length === 0) continue;
    try {
      listener(own);
    } catch (error) {
      reportError(error); // a fault of one view; the others are told all the same
    }
  }
}
