/**
 * Starts a run in a process of its own, which drives it when whoever asked is gone: see drive.ts beside it. The same
 * request with the same key starts it once. It keeps no list: which key began which run is in the journal.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { PACKAGE } from '../../base/package-directory.ts';
import { BosunError, ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { Asked } from '../../contract/operations.ts';
import type { Started } from '../../contract/mcp-outputs.ts';
import { openJournal } from '../../run/journal.ts';
import type { Once } from '../../store/store.ts';
import { startAndHear } from '../../system/process/start-and-hear.ts';

/** What a started process says: which run it drives, or why it drives none. */
export type SaidByProcess =
  { run: string; notes: string[] } | { error: { code?: ErrorCode; message: string; data?: unknown } };

/** What it is to do. */
export type Order = Omit<Asked<'start'>, 'key' | 'signal'> & { once?: Once };

const WORDS_CHARS_MAX = 2000;

/** Resolves once the run is under way; rejects with what its process says where it cannot be. */
export async function startApart({ key, signal, ...asked }: Asked<'start'>): Promise<Started> {
  // Keys are those of one program: another one's mean nothing here.
  const once = key === undefined ? undefined : { key: `${asked.by}: ${key}`, hash: hashOf(asked) };
  const before = once && (await begunWith(asked.cwd, once));
  if (before) return before;
  const order: Order = { ...asked, ...(once && { once }) };
  try {
    const { run, notes } = await begin(order, signal);
    return { run, isRepeated: false, notes };
  } catch (error) {
    // The same request may have come a second time, and have been faster.
    const other = once && (await begunWith(asked.cwd, once));
    if (other) return other;
    throw error;
  }
}

async function begin(
  order: Order,
  signal: AbortSignal | undefined,
): Promise<Exclude<SaidByProcess, { error: unknown }>> {
  let words = '';
  const heard = await startAndHear([path.join(PACKAGE, 'bin', 'bosun'), 'drive-apart'], {
    env: process.env,
    cwd: order.cwd,
    input: JSON.stringify(order),
    signal, // where nobody has heard of it, it stops what it has begun
    onSaid: (text) => (words = (words + text).slice(-WORDS_CHARS_MAX)),
  });
  if (!('line' in heard)) throw ended(words.trim());
  const answer = JSON.parse(heard.line) as SaidByProcess;
  if (!('error' in answer)) return answer;
  const { code, message, data } = answer.error;
  if (code === undefined || !Object.hasOwn(ERRORS, code)) throw new Error(message);
  throw new BosunError(code, message, { data });
}

function ended(words: string): BosunError {
  const why = words === '' ? 'it said nothing' : `it said: ${words}`;
  return new BosunError('system', `nothing was started: the process for it ended at once, and ${why}`);
}

async function begunWith(cwd: string, { key, hash }: Once): Promise<Started | undefined> {
  let begun: { run: string; hash: string } | undefined;
  try {
    await using journal = await openJournal(cwd);
    begun = await journal.store.begunWith(key);
  } catch (error) {
    if (error instanceof BosunError && error.code === 'not-found') return undefined; // there is no journal yet
    throw error;
  }
  if (!begun) return undefined;
  if (begun.hash === hash) return { run: begun.run, isRepeated: true, notes: [] };
  throw new BosunError(
    'usage',
    `this key was used for another request, which began run ${begun.run}; use a new key for a new run`,
  );
}

/** Of the request, whatever order its fields came in. */
function hashOf(asked: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(asked)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return fields.map(([name, each]) => [name, sorted(each)]);
}
