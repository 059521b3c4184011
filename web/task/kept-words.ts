/** What a person has written to a task and nobody was told yet: it is there again when the task is looked at again. */
import { useState } from 'react';
import type { Comment } from './comments.ts';

interface Words {
  text: string;
  comments: readonly Comment[];
}

const NONE: Words = { text: '', comments: [] };
const kept = new Map<string, Words>();
let isListening = false;

/** `change` goes by what is kept at that moment. */
export function useKeptWords(of: string): Words & { change(how: (before: Words) => Partial<Words>): void } {
  const [, setShown] = useState<Words>();
  return {
    ...(kept.get(of) ?? NONE),
    change(how) {
      const before = kept.get(of) ?? NONE;
      const after = { ...before, ...how(before) };
      kept.delete(of);
      if (after.text !== '' || after.comments.length > 0) kept.set(of, after);
      listen();
      setShown(after);
    },
  };
}

/** Whoever closes the page meanwhile is asked. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  addEventListener('beforeunload', (event) => {
    const isLeft = ({ text, comments }: Words): boolean =>
      text.trim() !== '' || comments.some(({ state }) => state === 'kept');
    if ([...kept.values()].some(isLeft)) event.preventDefault();
  });
}
