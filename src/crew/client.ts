/** The agent's end of its socket: one request, one answer. It is loaded at each call, so it imports little. */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { BosunError, ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { OwnerSaid } from '../contract/access.ts';
import type { Take } from '../contract/produced.ts';
import { openSocketPath } from '../system/net/socket-path.ts';
import { readLines } from './lines.ts';
import { ANSWER_BYTES_MAX, type ToolName } from './tools.ts';

const SOCKET_PATH = '/run/bosun/agent.sock';

/** Whether an engine may be listening: not in the shell of a person. */
export function isInside(): boolean {
  const { BOSUN_SOCKET, BOSUN_ATTEMPT } = process.env;
  return BOSUN_SOCKET !== undefined || BOSUN_ATTEMPT !== undefined || existsSync(SOCKET_PATH);
}

export interface SocketAnswer {
  answer: unknown;
  /** Something else that the agent should know: messages wait. */
  notice?: string;
}

/** The same, with what is left to do here: the engine touches no file of an agent at work. */
export async function callTool(
  name: ToolName,
  params: unknown,
  options: { signal?: AbortSignal } = {},
): Promise<SocketAnswer> {
  const answered = await callEngine(name, params, options);
  if (name === 'answer_access') return takeRequested(answered, params, options);
  if (name !== 'take') return answered;
  const take = answered.answer as Take;
  const why = await apply(take);
  return {
    ...answered,
    answer: { ...take, isApplied: why === undefined, ...(why !== undefined && { why }) },
  };
}

/** Only who has made the change says so. */
async function takeRequested(
  answered: SocketAnswer,
  params: unknown,
  options: { signal?: AbortSignal },
): Promise<SocketAnswer> {
  const { take } = answered.answer as OwnerSaid;
  if (!take) return answered;
  const why = await apply(take);
  if (why === undefined)
    return callEngine('answer_access', { ...(params as object), answer: 'applied' }, options);
  const answer: OwnerSaid = {
    accepted: false,
    why: `the change does not apply, and nothing was changed: ${why}; answer yes or no, or make it yourself and answer applied`,
  };
  return { ...answered, answer };
}

async function apply({ workspace, patch, paths }: Take): Promise<string | undefined> {
  const { applyInside } = await import('../system/git/apply-inside.ts'); // not with every start
  return applyInside(workspace, patch, paths);
}

/** Waits as long as the answer takes: the engine sees to it that there is one. `signal` is who waits no longer. */
function callEngine(
  method: ToolName,
  params: unknown,
  { signal }: { signal?: AbortSignal } = {},
): Promise<SocketAnswer> {
  const socketPath = process.env.BOSUN_SOCKET ?? SOCKET_PATH;
  return new Promise((resolve, reject) => {
    const short = open(socketPath);
    const socket = connect(short.path);
    let isConnected = false;
    socket.once('connect', () => {
      isConnected = true;
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    });
    const stop = (): void => void socket.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    const fail = (why: string): void => reject(isConnected ? lost(why) : outside(socketPath, why));
    socket.once('error', ({ message }) => fail(message));
    socket.once('close', () => {
      short[Symbol.dispose]();
      signal?.removeEventListener('abort', stop);
      fail('the connection was closed');
    });
    readLines(socket, {
      bytesMax: ANSWER_BYTES_MAX,
      onLine: (line) => {
        socket.destroy();
        try {
          resolve(resultOf(line));
        } catch (error) {
          reject(error instanceof BosunError ? error : lost('the answer cannot be read'));
        }
      },
      onTooLong: () => socket.destroy(),
    });
  });
}

function open(socketPath: string): ReturnType<typeof openSocketPath> {
  try {
    return openSocketPath(socketPath);
  } catch (error) {
    throw outside(socketPath, (error as Error).message);
  }
}

function resultOf(line: string): SocketAnswer {
  const message = JSON.parse(line) as {
    result?: unknown;
    notice?: unknown;
    error?: { code: number; message: string };
  };
  const { notice } = message;
  if (!message.error) return { answer: message.result, ...(typeof notice === 'string' && { notice }) };
  const { code, message: why } = message.error;
  const known = Object.entries(ERRORS).find(([, { rpc }]) => rpc === code)?.[0];
  throw new BosunError((known as ErrorCode | undefined) ?? 'system', why);
}

function outside(socketPath: string, why: string): BosunError {
  return new BosunError(
    'wrong-state',
    `"bosun agent" works only inside an attempt, where the engine listens at ${socketPath} (${why})${process.env.BOSUN_ATTEMPT === undefined ? '' : '; an attempt without fences has no way to it'}`,
  );
}

function lost(why: string): BosunError {
  return new BosunError('system', `the engine gave no answer: ${why}; try again if the attempt goes on`);
}
