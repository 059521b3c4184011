/**
 * Desktop notifications when something needs a person: only after somebody asked for them here, one for each question,
 * whichever tabs are open. The tab that holds the lock sends them; when it goes, another one takes over.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { EventOf } from '../../src/contract/event.ts';
import { go, runHref } from '../app/router.ts';
import { onEvents, type Streamed } from '../data/stream.ts';
import { plain } from '../parts/plain.ts';

export interface Notifications {
  /** `asked-for-none`: they can be had, and nobody asked for them. */
  state: 'asked-for-none' | 'on' | 'off';
  request(): void;
}

const LOCK = 'bosun-notifications';
const TEXT_CHARS_MAX = 180;
const listeners = new Set<() => void>();
/** To ask the browser takes it milliseconds, and every picture of the page wants to know. */
let known: Notifications['state'] | undefined;

export function useNotifications(): Notifications {
  const state = useSyncExternalStore(
    (listener) => {
      const look = (): void => {
        known = undefined;
        listener();
      };
      listeners.add(listener);
      // Who was in the browser's settings comes back.
      addEventListener('focus', look);
      return () => {
        listeners.delete(listener);
        removeEventListener('focus', look);
      };
    },
    () => (known ??= stateNow()),
  );
  return { state, request };
}

/** Sends them, for as long as the page is open. */
export function useSentNotifications(): void {
  const { state } = useNotifications();
  useEffect(() => {
    if (state !== 'on') return undefined;
    const stop = new AbortController();
    const send = (): Promise<void> =>
      new Promise((resolve) => {
        const leave = onEvents(null, (events) => events.forEach(notify));
        stop.signal.addEventListener('abort', () => {
          leave();
          resolve();
        });
      });
    navigator.locks.request(LOCK, { signal: stop.signal }, send).catch(() => {}); // it was not its turn yet
    return () => stop.abort();
  }, [state]);
}

function stateNow(): Notifications['state'] {
  // Over plain HTTP from another machine browsers have none.
  if (!isSecureContext || !('Notification' in window) || Notification.permission === 'denied') return 'off';
  return Notification.permission === 'granted' ? 'on' : 'asked-for-none';
}

function request(): void {
  void Notification.requestPermission().then(() => {
    known = undefined;
    for (const listener of listeners) listener();
  });
}

function notify({ repository, run, event }: Streamed): void {
  const place = { repository, run };
  if (event.type === 'question.asked')
    send({ ...place, title: wordsOf(event), about: event.id, query: { task: event.task, ask: event.id } });
  else if (event.type === 'run.finished' && event.state === 'failed')
    send({ ...place, title: `${run} failed`, about: 'failed', query: {} });
}

interface Sent {
  repository: string;
  run: string;
  title: string;
  /** One of a tag is shown at a time. */
  about: string;
  query: Record<string, string>;
}

function send({ repository, run, title, about, query }: Sent): void {
  const tag = `${repository}/${run}/${about}`;
  const notification = new Notification(title, { body: `${repository} · ${run}`, tag });
  notification.addEventListener('click', () => {
    window.focus();
    go(runHref(repository, run, query));
    notification.close();
  });
}

function wordsOf({ task, text, globs = [] }: EventOf<'question.asked'>): string {
  const said = globs.length > 0 ? `May ${task} write ${globs.join(', ')}?` : text;
  return plain(said, TEXT_CHARS_MAX);
}
