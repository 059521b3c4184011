/**
 * Holds the one stream for all tabs of a browser. A tab says `hello` when it comes, and `bye` when it goes. One that can
 * have no worker loads this file itself and has a hub of its own, which is in no other file.
 */
import { Hub, type HubOptions } from './hub.ts';

/** Vite keeps no exports of a worker. */
export interface HubScope {
  startHub(options: HubOptions): Hub;
}

interface Scope extends HubScope {
  addEventListener(type: 'connect', listener: (event: MessageEvent) => void): void;
}

const tabs = new Set<MessagePort>();
let hub: Hub | undefined;

const scope = globalThis as unknown as Scope;
scope.startHub = (options) => new Hub(options).start();
scope.addEventListener('connect', ({ ports }) => {
  const port = ports[0]!;
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === 'bye') {
      tabs.delete(port);
      return;
    }
    tabs.add(port);
    hub ??= scope.startHub({ tell: (told) => tabs.forEach((tab) => tab.postMessage(told)) });
    hub.unlock();
    port.postMessage(hub.now);
  });
  port.start();
});
