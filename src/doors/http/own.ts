/** What the server says of itself: whether it is up and ready, its figures, its document, and events of everything. */
import { STATUS_CODES } from '../../system/net/http.ts';
import { perform } from '../../operations/perform.ts';
import type { Access, Caller } from './access.ts';
import { json, type Call, type Reply } from './call.ts';
import type { Own } from './door.ts';
import { watchedAll } from './event-request.ts';
import type { EventStreams } from './event-streams.ts';
import type { Metrics } from './metrics.ts';

interface OwnPath {
  path: string;
  about: string;
  type: string;
  isOpen: boolean;
}

export const OWN_PATHS: readonly OwnPath[] = [
  { path: '/health', about: 'whether the server answers', type: 'application/json', isOpen: true },
  { path: '/ready', about: 'whether it can do its work', type: 'application/json', isOpen: true },
  { path: '/openapi.json', about: 'this document', type: 'application/json', isOpen: true },
  { path: '/metrics', about: 'figures for Prometheus', type: 'text/plain', isOpen: false },
  {
    path: '/api/events',
    about: 'events of all repositories, as they come',
    type: 'text/event-stream',
    isOpen: false,
  },
];

interface Parts {
  access: Access;
  streams: EventStreams;
  metrics: Metrics;
  version: string;
}

export function ownRoutes({ access, streams, metrics, version }: Parts): Own[] {
  const answers: Record<string, (call: Call, caller: Caller) => Promise<Reply> | Reply> = {
    '/health': () => json({ status: 'ok' }),
    '/ready': () => readiness(access),
    '/openapi.json': async () => json((await import('./openapi.ts')).openApi(version)),
    '/metrics': () => metrics.answer(access.repositories(), streams.count),
    '/api/events': (call, caller) => {
      const watched = watchedAll(call, access.repositories());
      return streams.answer({ watched, by: caller.by, isAllowed: () => access.isStill(caller, watched) });
    },
  };
  return OWN_PATHS.map(({ path, isOpen }) => ({
    method: 'GET',
    path,
    isOpen,
    answer: (call, caller) => answers[path]!(call, caller!),
  }));
}

/** Names nothing: anybody may ask. */
async function readiness(access: Access): Promise<Reply> {
  try {
    access.repositories();
    await perform('repositories', {}, { cwd: '/', by: { kind: 'program', name: 'bosun-serve' } });
    return json({ status: 'ready' });
  } catch {
    return json({ status: STATUS_CODES[503] }, { status: 503 });
  }
}
