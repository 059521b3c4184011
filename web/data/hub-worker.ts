/**
 * Holds the one stream for all tabs of a browser. A tab says `hello` when it comes, and `bye` when it goes. A tab that has to
 * do without a worker reads this file for its hub alone.
 */
import { Hub } from './hub.ts';
import { setPlace } from './place.ts';

interface Scope {
  addEventListener(type: 'connect', listener: (event: MessageEvent) => void): void;
}

/** Where the session of the browser is by now: a worker cannot read what tabs keep. */
export interface Hello {
  place: string | undefined;
}

/** Nothing that a worker exports is left in its file. */
const given = { Hub, setPlace };
Object.assign(globalThis, { bosunHub: given });
export type Given = typeof given;

const tabs = new Set<MessagePort>();
let hub: Hub | undefined;

(globalThis as unknown as Scope).addEventListener('connect', ({ ports }) => {
  const port = ports[0]!;
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === 'bye') {
      tabs.delete(port);
      return;
    }
    setPlace((data as Hello).place);
    tabs.add(port);
    hub ??= new Hub({ tell: (told) => tabs.forEach((tab) => tab.postMessage(told)) }).start();
    hub.unlock();
    port.postMessage(hub.now);
  });
  port.start();
});
