/**
 * How the one stream reaches a tab: from a worker that all tabs share; where there is none, from whichever tab holds a
 * lock, over a channel; else each tab has a stream of its own. They hand on what the hub tells, and nothing else.
 */
// oxlint-disable-next-line import/default -- Vite makes it: its address
import workerUrl from './hub-worker.ts?worker&url';
import type { Given, Hello } from './hub-worker.ts';
import type { Hub, HubOptions, Told } from './hub.ts';
import { sessionPlace } from './place.ts';

type Carried = Pick<HubOptions, 'tell'> & {
  /** Where this tab stands, for when it becomes the one that reads. */
  standsAt(): Pick<Told, 'epoch' | 'id'> | undefined;
};

const NAME = 'bosun-stream';

export interface Carrier {
  /** Nothing was heard of it: where it is there, it says something at once. */
  wake(): void;
}

/** `onFailure`: the browser does not let it begin. */
export function carry(carried: Carried, onFailure: () => void): Carrier {
  if (typeof SharedWorker !== 'undefined') return fromWorker(carried, onFailure);
  if (typeof BroadcastChannel !== 'undefined' && 'locks' in navigator) return fromLeader(carried);
  carryAlone(carried);
  return { wake: () => {} };
}

/** Until `stop` is called. */
export function carryAlone({ tell, standsAt }: Carried): { stop(): void } {
  let isStopped = false;
  const hub = openHub({
    tell: (told) => {
      if (!isStopped) tell(told);
    },
    standsAt,
  });
  return {
    stop() {
      isStopped = true;
      void hub.then((opened) => opened.stop());
    },
  };
}

async function openHub({ tell, standsAt }: Carried): Promise<Hub> {
  await import(/* @vite-ignore */ workerUrl);
  const { Hub, setPlace } = (globalThis as unknown as { bosunHub: Given }).bosunHub;
  setPlace(sessionPlace());
  return new Hub({ tell, from: standsAt(), isHidden: () => document.hidden }).start();
}

function fromWorker({ tell }: Carried, onFailure: () => void): Carrier {
  const worker = new SharedWorker(trusted(workerUrl), { type: 'module', name: NAME });
  const { port } = worker;
  worker.addEventListener('error', onFailure);
  port.addEventListener('message', ({ data }: MessageEvent<Told>) => tell(data));
  const hello = (): void => port.postMessage({ place: sessionPlace() } satisfies Hello);
  port.start();
  hello();
  addEventListener('pagehide', () => port.postMessage('bye'));
  addEventListener('pageshow', hello); // also where the browser had put the tab aside
  return { wake: hello };
}

/** A tab that comes asks where the leader stands; one that waits for the lock goes on from where it stood itself. */
function fromLeader({ tell, standsAt }: Carried): Carrier {
  const channel = new BroadcastChannel(NAME);
  let hub: Hub | undefined;
  channel.addEventListener('message', ({ data }: MessageEvent<Told | 'where'>) => {
    if (data !== 'where') tell(data);
    else if (hub) channel.postMessage(hub.now);
  });
  const lead = async (): Promise<void> => {
    hub = await openHub({
      standsAt,
      tell(told) {
        tell(told);
        channel.postMessage(told);
      },
    });
    return new Promise(() => {}); // until the tab goes
  };
  navigator.locks.request(NAME, lead).catch(() => {});
  const wake = (): void => (hub ? tell(hub.now) : channel.postMessage('where'));
  wake();
  return { wake };
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
