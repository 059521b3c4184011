/**
 * One talk with a remote: git with what opens it, tried again where the connection did not even come about, and with
 * an end in every case. What is transferred is its callers' business.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BosunError } from '../contract/errors.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { makeScratch } from '../system/files/scratch.ts';
import { gitOverNetwork } from '../system/git/git.ts';
import type { Captured } from '../system/process/process.ts';
import type { Address } from './address.ts';
import {
  ownCredentials,
  requireHttp,
  tokenCredentials,
  type RemoteCredentials,
  type RemoteToken,
} from './credentials.ts';
import { failureOf } from './failure.ts';

/** How a remote is reached; the same for all that is done with it. */
export interface RemoteReach {
  address: Address;
  token?: RemoteToken | undefined;
  /** Somebody sits at a terminal whom git and ssh may ask. */
  mayPrompt?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** How long to wait before each further try. */
  waitsMs?: readonly number[] | undefined;
}

export interface Transfer {
  /** In words, such as "cannot push to origin". */
  doing: string;
  /** Where bosun's state of a repository is; the system's temporary directory serves as well. */
  commonDir: string;
  /** git's arguments, given the address to talk to. */
  args(url: string): string[];
  env?: Record<string, string>;
  /** Whether a failure is an answer all the same. */
  isAnswer?(result: Captured): boolean;
}

const WAITS_MS = [1000, 4000];
/** Nothing takes longer, unless nobody is at the other end any more. */
const TALK_MS_MAX = 3_600_000;
const STDOUT_BYTES_MAX = 16 * 1024 * 1024;

/** By insteadOf of the user's own, an address may come to mean another transport. */
const TRANSPORTS = { https: ['https', 'ssh'], http: ['http', 'https', 'ssh'], ssh: ['ssh', 'https'] };

/** Against redirects to other hosts, connections that stand still, and leftovers in the background. */
const OPTIONS = [
  'http.followRedirects=initial',
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=120',
  'fetch.writeCommitGraph=false',
  'transfer.bundleURI=false',
  'push.gpgSign=false',
].flatMap((option) => ['-c', option]);

export async function talk(reach: RemoteReach, what: Transfer): Promise<Captured> {
  const { address, token, signal, mayPrompt = false, waitsMs = WAITS_MS } = reach;
  requireHttp(address, token);
  const scratch = token && (await makeScratch(what.commonDir));
  let credentials: RemoteCredentials | undefined;
  try {
    credentials =
      token && scratch !== undefined
        ? await tokenCredentials(address, token, scratch)
        : ownCredentials(address, mayPrompt);
    for (let tries = 0; ; tries++) {
      const result = await once(reach, what, credentials);
      if (result.code === 0 || what.isAnswer?.(result)) return result;
      const { error, isEarly } = failureOf(what.doing, result.stderr, { address, token });
      const waitMs = waitsMs[tries];
      if (!isEarly || waitMs === undefined) throw error;
      await sleep(waitMs, undefined, signal && { signal });
    }
  } finally {
    if (scratch !== undefined) {
      await credentials?.forget?.();
      await removeTree(scratch);
    }
  }
}

async function once(
  { address, token, signal, mayPrompt = false }: RemoteReach,
  { doing, args, env }: Transfer,
  { url, options, env: own, without }: RemoteCredentials,
): Promise<Captured> {
  const late = AbortSignal.timeout(TALK_MS_MAX);
  const isAsking = mayPrompt && token === undefined;
  try {
    return await gitOverNetwork([...OPTIONS, ...options, ...args(url)], TRANSPORTS[address.transport], {
      env: { ...env, ...own },
      without,
      // in a session of its own it has no terminal to wait at
      detached: !isAsking,
      mortal: true,
      signal: signal ? AbortSignal.any([signal, late]) : late,
      stdoutBytesMax: STDOUT_BYTES_MAX,
    });
  } catch (error) {
    if (!late.aborted || signal?.aborted) throw error;
    throw new BosunError(
      'network',
      `${doing} (${address.host}): it took longer than an hour and was ended; check your network, then try again`,
      { cause: error },
    );
  }
}
