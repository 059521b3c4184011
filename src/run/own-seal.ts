/**
 * Seals in a journal what this user's own bosun wrote there: that a run was queued here, and that webhooks were armed
 * here. A journal comes along with its repository: what it says without such a seal is a stranger's word.
 */
import type { EventOf } from '../contract/event.ts';
import { isSealed, seal } from '../store/queue-seal.ts';
import type { Store } from '../store/store.ts';
import { trustedPlace } from '../system/files/trusted-place.ts';

type Created = EventOf<'run.created'>;

export function sealQueued(cwd: string, created: Created): string {
  return seal(queuedText(cwd, created));
}

/** Whether this user left the run in the queue here; what is not sealed by them is not driven by itself. */
export async function isQueuedHere(cwd: string, store: Store, run: string): Promise<boolean> {
  const [first] = await store.read(run, { limit: 1 });
  if (first?.event.type !== 'run.created') return false;
  const { sealed } = first.event.queued ?? {};
  return sealed !== undefined && isSealed(queuedText(cwd, first.event), sealed);
}

/** Why it is not, and what to type. */
export function notQueuedHere(run: string): string {
  return `it was not queued by you on this machine, so it does not start by itself; look at it with: bosun logs ${run}, then start it with: bosun resume ${run}, or end it with: bosun cancel ${run}`;
}

/** Undefined where the user's state cannot be written: what an engine that is killed did not tell stays untold then. */
export function sealArmed(cwd: string, run: string): string | undefined {
  try {
    return seal(armedText(cwd, run));
  } catch {
    return undefined;
  }
}

export function isArmedHere(cwd: string, run: string, sealed: string | undefined): boolean {
  try {
    return sealed !== undefined && isSealed(armedText(cwd, run), sealed);
  } catch {
    return false;
  }
}

/** As text that is the same whatever order fields come in, as they do from a journal. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function queuedText(cwd: string, { queued, ...created }: Created): string {
  return canonicalText(['queued', placeOf(cwd), queued?.by, created]);
}

function armedText(cwd: string, run: string): string {
  return canonicalText(['armed', placeOf(cwd), run]);
}

function placeOf(cwd: string): string {
  return trustedPlace(cwd)?.directory ?? '';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sorted(each)]);
}
