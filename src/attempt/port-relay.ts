/** Opens the way to a port of what an agent runs in, or says why there is none. What is served under which name it does not know. */
import { BosunError } from '../contract/errors.ts';
import type { Relay, Running } from '../system/process/process.ts';

/** It ends with that sandbox too: the next one of the attempt has other processes. */
export async function openPort(
  running: Running | undefined,
  port: number,
  socketPath: string,
): Promise<Relay> {
  if (running === undefined)
    throw new BosunError('wrong-state', 'only an agent at work can serve, not its check');
  if (running.relay === undefined)
    throw new BosunError(
      'not-supported',
      'nothing can be served on this machine: to reach a port of a sandbox takes a program that is built where there is a C compiler when bosun is installed',
    );
  const relay = await running.relay(port, socketPath);
  const over = running.exited.then(
    () => {},
    () => {},
  );
  return { ...relay, ended: Promise.race([relay.ended, over]) };
}
