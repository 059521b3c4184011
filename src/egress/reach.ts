/** Opens the connection to a checked target, in bounded time. It never looks a name up: the addresses are given. */
import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { formatAuthority } from './authority.ts';
import { EgressRefusal, type Target } from './gate.ts';

/** More than these are not tried. */
const ADDRESSES_TRIED_MAX = 16;

/** The socket lives until it ends, or `signal` says that nobody wants it any longer. */
export function reach(
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket | EgressRefusal> {
  const where = formatAuthority(target.host, target.port);
  return new Promise((resolve) => {
    const socket = connect({
      host: target.host,
      port: target.port,
      lookup: answering(target.addresses.slice(0, ADDRESSES_TRIED_MAX)),
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
    const late = setTimeout(() => {
      resolve(tooLate(where, timeoutMs));
      socket.destroy();
    }, timeoutMs);
    socket.once('connect', () => resolve(socket));
    // stays for good: whoever uses the socket learns of its end by its close
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(new EgressRefusal(502, `bosun: cannot reach ${where}: ${error.code ?? error.message}`)),
    );
    socket.once('close', () => resolve(new EgressRefusal(502, `bosun: cannot reach ${where}: closed`)));
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(late));
    const drop = (): void => void socket.destroy();
    signal.addEventListener('abort', drop);
    socket.once('close', () => signal.removeEventListener('abort', drop));
    if (signal.aborted) drop();
  });
}

/** The answer of something that may never answer. */
export async function within<T>(
  timeoutMs: number,
  where: string,
  work: Promise<T>,
): Promise<T | EgressRefusal> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EgressRefusal>((resolve) => {
    timer = setTimeout(() => resolve(tooLate(where, timeoutMs)), timeoutMs).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(where: string, timeoutMs: number): EgressRefusal {
  return new EgressRefusal(504, `bosun: cannot reach ${where}: no answer within ${Math.round(timeoutMs)} ms`);
}

function answering(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, done) => {
    if (options.all === true) done(null, all);
    else done(null, all[0]!.address, all[0]!.family);
  };
}
