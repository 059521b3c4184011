/** What the server says of itself: whether it is up and ready, its figures, its document, and events of everything. */
import { STATUS_CODES } from '../../system/net/http.ts';
import { perform } from '../../operations/perform.ts';
import type { Access, HttpCaller } from './access.ts';
import { jsonReply, type Call, type Reply } from './call.ts';
import type { Own } from './door.ts';
import { watchedAll } from './event-request.ts';
import type { EventStreams } from './event-streams.ts';
import type { Metrics } from './metrics.ts';
import { HttpProblem } from './problem.ts';
import type { Sessions } from './sessions.ts';

interface OwnPath {
  /** GET if not given. */
  method?: 'POST' | 'DELETE';
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
  { path: '/api/session', about: 'who asks, and what they may', type: 'application/json', isOpen: false },
  {
    method: 'POST',
    path: '/api/session',
    about:
      'give a session in place of the token that the request has: a cookie, and the place that it is good at',
    type: 'application/json',
    isOpen: false,
  },
  {
    method: 'DELETE',
    path: '/api/session',
    about: 'end the session of the request',
    type: 'application/json',
    isOpen: false,
  },
];

interface Parts {
  access: Access;
  streams: EventStreams;
  metrics: Metrics;
  sessions: Sessions;
  version: string;
}

export function ownRoutes({ access, streams, metrics, sessions, version }: Parts): Own[] {
  let document: Reply | undefined; // anybody may ask for it, and it takes its time to make
  const answers: Record<string, (call: Call, caller: HttpCaller) => Promise<Reply> | Reply> = {
    '/health': () => jsonReply({ status: 'ok' }),
    '/ready': () => readiness(access),
    '/openapi.json': async () => (document ??= jsonReply((await import('./openapi.ts')).openApi(version))),
    '/metrics': () => metrics.answer(access.repositories(), streams.counts),
    '/api/events': (call, caller) => {
      const watched = watchedAll(call, access.repositories());
      return streams.answer({ watched, by: caller.by, isAllowed: () => access.isStill(caller, watched) });
    },
    '/api/session': (_, { role, by }) => jsonReply({ role, by, version }),
    'POST /api/session': (call, caller) => {
      const subject = access.subjectOf(caller);
      if (subject === undefined)
        throw new HttpProblem(400, 'usage', 'only who came with a token can have a session');
      const how = { isSecure: isSecure(call), nowMs: Date.now() };
      const { cookie, place } = sessions.begin(call, subject, how);
      const { role, by } = caller;
      return jsonReply({ role, by, version, place }, { headers: { 'set-cookie': cookie } });
    },
    'DELETE /api/session': (call) => {
      const cookie = sessions.end(call, { isSecure: isSecure(call), nowMs: Date.now() });
      return jsonReply({ ended: true }, { headers: cookie === undefined ? {} : { 'set-cookie': cookie } });
    },
  };
  return OWN_PATHS.map(({ method, path, isOpen }) => ({
    method: method ?? 'GET',
    path,
    isOpen,
    answer: (call, caller) => answers[method ? `${method} ${path}` : path]!(call, caller!),
  }));
}

/** Through a proxy with TLS, as the browser says. */
function isSecure({ headers }: Call): boolean {
  return headers.origin?.startsWith('https:') ?? false;
}

/** Names nothing: anybody may ask. */
async function readiness(access: Access): Promise<Reply> {
  try {
    access.repositories();
    await perform('repositories', {}, { cwd: '/', by: { kind: 'program', name: 'bosun-serve' } });
    return jsonReply({ status: 'ready' });
  } catch {
    return jsonReply({ status: STATUS_CODES[503] }, { status: 503 });
  }
}
