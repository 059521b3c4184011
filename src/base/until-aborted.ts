/** Waits for work that may never end, for as long as somebody wants it: then the signal's reason is thrown. */
export async function untilAborted<T>(work: () => Promise<T> | T, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const stop = (): void => late.reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const called = Promise.resolve().then(() => {
      signal.throwIfAborted();
      return work();
    });
    called.catch(() => {}); // also where nobody waits for it any more
    return await Promise.race([called, late.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
