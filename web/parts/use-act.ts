/** Something that is asked of the server: once at a time; what goes wrong is said. */
import { useState } from 'react';
import { useNotice } from './notice.tsx';

export interface Acting {
  isAtWork: boolean;
  act(): void;
}

/** `done` is what to say once it is. */
export function useAct(does: () => Promise<unknown>, done?: string): Acting {
  const [isAtWork, setAtWork] = useState(false);
  const notice = useNotice();
  return {
    isAtWork,
    act() {
      if (isAtWork) return;
      setAtWork(true);
      does()
        .then(
          () => done !== undefined && notice.good(done),
          (error: unknown) => notice.bad(error),
        )
        .finally(() => setAtWork(false));
    },
  };
}
