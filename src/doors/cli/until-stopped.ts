/** Lets a command that Ctrl-C or a signal stops clear up first; it then ends as if nobody had listened. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let came: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals): void => {
    came ??= signal;
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    if (came) process.kill(process.pid, came);
  }
}
