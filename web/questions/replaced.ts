/** Whether something came into the place of another one just now: a key that was meant for that one answers nothing. */
import { useRef } from 'react';

/** Nobody reads a question faster. */
const READ_MS = 1000;

export function useReplaced(id: string | undefined): () => boolean {
  const last = useRef({ id, atMs: -Infinity });
  if (id !== last.current.id) {
    // What comes where nothing was is in nobody's way.
    last.current = { id, atMs: last.current.id === undefined ? -Infinity : performance.now() };
  }
  return () => performance.now() - last.current.atMs < READ_MS;
}
