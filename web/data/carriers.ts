/**
 * How the one stream reaches a tab: from a worker that all tabs share; where there is none, from whichever tab holds a
 * lock, over a channel; else each tab has a stream of its own. They hand on what the hub tells, and nothing else.
 */
// oxlint-disable-next-line import/default -- Vite makes it: its address
import workerUrl from './hub-worker.ts?worker&url';
import type { Hello } from './hub-worker.ts';
import { Hub, type HubOptions, type Told } from './hub.ts';
import { sessionPlace } from './place.ts';

type Carried = Pick<HubOptions, 'tell'> & {
  /** Where this tab stands, for when it becomes the one that reads. */
  standsAt(): Pick<Told, 'epoch' | 'id'> | undefined;
};

const NAME = 'bosun-stream';

/** What it gives ends it; `onFailure` where the browser does not let it begin. */
export function carry(carried: Carried, onFailure: () => void): () => void {
  if (typeof SharedWorker !== 'undefined') return fromWorker(carried, onFailure);
  if (typeof BroadcastChannel !== 'undefined' && 'locks' in navigator) return fromLeader(carried);
  carryAlone(carried);
  return () => {};
}

export function carryAlone({ tell, standsAt }: Carried): void {
  new Hub({ tell, from: standsAt(), isHidden: () => document.hidden }).start();
}

function fromWorker({ tell }: Carried, onFailure: () => void): () => void {
  const worker = new SharedWorker(trusted(workerUrl), { type: 'module', name: NAME });
  const { port } = worker;
  worker.addEventListener('error', onFailure);
  port.addEventListener('message', ({ data }: MessageEvent<Told>) => tell(data));
  const hello = (): void => port.postMessage({ place: sessionPlace() } satisfies Hello);
  const bye = (): void => port.postMessage('bye');
  port.start();
  hello();
  addEventListener('pagehide', bye);
  addEventListener('pageshow', hello); // also where the browser had put the tab aside
  return () => {
    bye();
    removeEventListener('pagehide', bye);
    removeEventListener('pageshow', hello);
    port.close();
  };
}

/** A tab that comes asks where the leader stands; one that waits for the lock goes on from where it stood itself. */
function fromLeader({ tell, standsAt }: Carried): () => void {
  const channel = new BroadcastChannel(NAME);
  let hub: Hub | undefined;
  channel.addEventListener('message', ({ data }: MessageEvent<Told | 'where'>) => {
    if (data !== 'where') tell(data);
    else if (hub) channel.postMessage(hub.now);
  });
  channel.postMessage('where');
  const stop = new AbortController();
  const lead = (): Promise<void> => {
    hub = new Hub({
      from: standsAt(),
      isHidden: () => document.hidden,
      tell(told) {
        tell(told);
        channel.postMessage(told);
      },
    }).start();
    return new Promise(() => {}); // until the tab goes
  };
  navigator.locks.request(NAME, { signal: stop.signal }, lead).catch(() => {});
  return () => {
    stop.abort();
    channel.close();
  };
}

/** The policy of the page lets no text become a script; this is the address of one of its own files. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as unknown as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
  };
  if (!trustedTypes) return url;
  return trustedTypes
    .createPolicy('bosun', { createScriptURL: (given: string) => given })
    .createScriptURL(url);
}
