/** Sends what was filled in, once however often it is sent, and goes to the run that it became. */
import { useRef, useState } from 'react';
import { go, runHref } from '../app/router.ts';
import { ask, Problem, repositoryPath } from '../data/api.ts';
import { useNotice } from '../parts/notice.tsx';

export interface Starting {
  isStarting: boolean;
  start(kind: 'runs' | 'exec', body: object): Promise<Problem | undefined>;
}

/** What is sent again after no answer came is the same request: it starts nothing a second time. */
export function useStart(repository: string): Starting {
  const [isStarting, setStarting] = useState(false);
  const sent = useRef({ text: '', key: '' });
  const notice = useNotice();
  return {
    isStarting,
    async start(kind, body) {
      const text = JSON.stringify([kind, body]);
      if (sent.current.text !== text) sent.current = { text, key: `${Date.now()}-${Math.random()}` };
      setStarting(true);
      try {
        const { id, notes } = await ask<{ id: string; notes: string[] }>(
          `${repositoryPath(repository)}/${kind}`,
          { body, headers: { 'idempotency-key': sent.current.key } },
        );
        sent.current = { text: '', key: '' };
        if (notes.length > 0) notice.good(notes.join('\n'));
        go(runHref(repository, id));
        return undefined;
      } catch (error) {
        return error instanceof Problem ? error : new Problem(0, 'system', String(error));
      } finally {
        setStarting(false);
      }
    },
  };
}
