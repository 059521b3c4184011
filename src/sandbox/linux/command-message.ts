/** A command as it goes into a sandbox: its words, its environment, and the message that native/launch.c reads them from. */
import { BosunError } from '../../contract/errors.ts';
import type { Fence } from '../../system/process/fence.ts';
import { TOO_LONG } from '../../system/process/process.ts';
import { bridged, EGRESS, GATEWAY, proxyEnvironment } from './bridge.ts';
import { INSIDE } from './bwrap.ts';

/** What the kernel takes of one argument or variable. */
const WORD_BYTES_MAX = 128 * 1024 - 1;

export function insideArgv(argv: string[], { egress, gateway }: Fence): string[] {
  const bridges = [...(egress ? [EGRESS] : []), ...(gateway ? [GATEWAY] : [])];
  return bridges.length > 0 ? bridged(argv, bridges) : argv;
}

export function insideEnvironment(env: Record<string, string>, { egress }: Fence): Record<string, string> {
  return { ...env, ...(egress && proxyEnvironment()), HOME: INSIDE.home };
}

/** As native/launch.c reads it. */
export function commandMessage(argv: string[], env: Record<string, string>, hasInput: boolean): Buffer {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const parts = [hasInput ? 'input' : 'nothing', String(argv.length), ...argv, ...variables];
  if (parts.some((part) => part.includes('\0')))
    throw new BosunError('system', `cannot start ${argv[0]}: an argument or a variable holds a NUL byte`);
  if (parts.some((part) => Buffer.byteLength(part) > WORD_BYTES_MAX))
    throw new BosunError('system', `cannot start ${argv[0]}: ${TOO_LONG}`);
  const body = Buffer.from(`${parts.join('\0')}\0`);
  return Buffer.concat([Buffer.from(String(body.length).padStart(10, '0')), body]);
}
