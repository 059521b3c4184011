/** Starts a process that outlives us, and waits for the one line that it says of how that went; then it is on its own. */
import { startInOwnSession } from './process.ts';

/** A refusal lists what is wrong with a workflow, which may be long. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;
const LINE_END = 0x0a;

interface Options {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** What it reads from its stdin. */
  input?: string;
  /** Of whoever waits: the process goes on, and finds that nobody hears it. */
  signal?: AbortSignal | undefined;
  /** What it says on stderr meanwhile. */
  onSaid(text: string): void;
}

/** The line, without its end; or the exit code of a process that ended before it said one. */
export async function startAndHear(
  argv: readonly string[],
  { signal, onSaid, ...options }: Options,
): Promise<{ line: string } | { exitCode: number }> {
  const { told, said, exited, leave } = startInOwnSession(argv, options);
  said.on('data', (text: Buffer) => onSaid(text.toString()));
  const pieces: Buffer[] = [];
  let bytes = 0;
  const line = new Promise<undefined>((resolve) =>
    told.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (piece.includes(LINE_END) || bytes > LINE_BYTES_MAX) resolve(undefined);
    }),
  );
  const { promise: left, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal!.reason as Error);
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  let exitCode: number | undefined;
  try {
    exitCode = await Promise.race([line, exited, left]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    leave();
  }
  const text = Buffer.concat(pieces).toString();
  // It may have said one and ended at once.
  return text.endsWith('\n') ? { line: text.slice(0, -1) } : { exitCode: exitCode ?? 1 };
}
