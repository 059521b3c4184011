/**
 * `bosun serve`: puts the HTTP door together and opens it, once for each socket. It keeps nothing that the records and
 * the journals do not have, and drives no run: what is at work goes on when it ends.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { takeLock, type Lock } from '../../store/lock.ts';
import { KeptOpen } from '../../store/kept-open.ts';
import { Records } from '../../store/records/records.ts';
import { makeToken } from '../../store/records/tokens.ts';
import { userStateDirectory } from '../../store/user-state.ts';
import { assertOurs } from '../../system/files/owned.ts';
import { Access, requireRole } from './access.ts';
import { Door } from './door.ts';
import { EventStreams } from './event-streams.ts';
import { Guard } from './guard.ts';
import { Metrics } from './metrics.ts';
import { ownRoutes } from './own.ts';
import { Page } from './page.ts';
import { ServedWatch } from './served-watch.ts';
import { Sessions } from './sessions.ts';
import { Starts } from './starts.ts';
import { HttpServer, type Answering, type Mount } from './server.ts';

export interface ServeOptions {
  host: string;
  port: number;
  /** Names under which a proxy reaches it. */
  allowHosts: readonly string[];
  /** In a directory that nobody else can enter; in the user's state if not given. */
  socketPath?: string;
  /** No token is made: whoever comes in has one of their own. */
  tokensOnly: boolean;
  version: string;
  mounts?: readonly Mount[];
  /** Where the built page is; that of the package if not given. */
  pageDirectory?: string;
  /** Until all headers of a request are there. */
  headersMsMax?: number;
  /** How long somebody may take nothing of what is written. */
  stalledMs?: number;
  /** Between two signs of life of a quiet event stream. */
  beatMs?: number;
  onBug(error: unknown): void;
  /** Is told, for people, why runs that wait are not driven. */
  onTrouble(text: string): void;
}

export interface Serving extends AsyncDisposable {
  /** Without a path. */
  url: string;
  /** Of its page; it ends with this process. */
  token: string | undefined;
  socketPath: string;
}

export async function serve(options: ServeOptions): Promise<Serving> {
  const { host, allowHosts, tokensOnly, version, onBug } = options;
  await using undo = new AsyncDisposableStack();
  const socketPath = options.socketPath ?? path.join(userStateDirectory(), 'serve', 'bosun.sock');
  const lock = undo.use(lockFor(socketPath));
  const kept = undo.use(new KeptOpen());
  const records = undo.use(new Records());
  const token = tokensOnly ? undefined : makeToken();
  const sessions = new Sessions(records.sessions);
  const access = new Access(records, sessions, token);
  const streams = new EventStreams(options.beatMs === undefined ? {} : { beatMs: options.beatMs });
  const metrics = new Metrics();
  const starts = undo.use(new Starts(access, options.onTrouble));
  let answering: Answering | undefined;
  const server = new HttpServer(() => answering!, { ...options, around: (action) => kept.within(action) });
  undo.use(server);
  undo.defer(() => streams.close()); // before the server waits for what is under way
  const port = await server.listen({ host, port: options.port, socketPath });
  const name = host.includes(':') ? `[${host}]` : host;
  const guard = new Guard(name, port, allowHosts);
  const door = new Door({
    guard,
    access,
    streams,
    starts,
    own: ownRoutes({ access, streams, metrics, sessions, version }),
    page: new Page(options.pageDirectory),
    onBug,
    onAnswered: (route, status) => metrics.count(route, status),
  });
  answering = {
    answer: (call) => door.answer(call),
    admit(call, role) {
      guard.check(call);
      const caller = access.callerOf(call);
      requireRole(caller, role, call.path.slice(0, 100));
      return { caller, repositories: access.repositories() };
    },
  };
  const url = `http://${name}:${port}`;
  lock.note(url);
  undo.use(
    kept.within(
      () =>
        new ServedWatch(access, records.file, {
          onServed: (repositories) => streams.served(repositories),
          onWritten: (directory) => starts.changed(directory),
        }),
    ),
  );
  const all = undo.move();
  return { url, token, socketPath, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** One server for a socket: a second one would take it away from the first. */
function lockFor(socketPath: string): Disposable & { note(url: string): void } {
  const directory = path.dirname(socketPath);
  const note = `${socketPath}.json`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  assertOurs(directory);
  const lock: Lock | undefined = takeLock(`${socketPath}.lock`);
  if (!lock) throw taken(socketPath, note);
  return {
    note: (url) => writeFileSync(note, JSON.stringify({ pid: process.pid, url }), { mode: 0o600 }),
    [Symbol.dispose]() {
      rmSync(note, { force: true });
      lock[Symbol.dispose]();
    },
  };
}

function taken(socketPath: string, note: string): BosunError {
  let who = 'another bosun serve';
  try {
    const { pid, url } = JSON.parse(readFileSync(note, 'utf8')) as { pid: number; url: string };
    who = `another bosun serve (process ${pid}, at ${url})`;
  } catch {
    // it has only just begun
  }
  return new BosunError(
    'busy',
    `${who} has the socket ${socketPath}; use that one, end it, or give this one a socket of its own with --socket`,
  );
}
