/** Waits until the engine of a run has taken what was asked of it. It asks nothing itself. */
const POLL_MS = 25;

/** Resolves with what `look` sees as soon as that is something; with nothing where it is not within the time. */
export async function untilTaken<T>(
  look: () => Promise<T | undefined>,
  { msMax, signal }: { msMax: number; signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const seen = await look();
    if (seen !== undefined || waitedMs >= msMax) return seen;
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
