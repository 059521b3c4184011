/** What a reader of events asks for: which, and from where on. `Last-Event-ID` is what a browser sends by itself. */
import type { ServedRepository } from '../../contract/serving-schema.ts';
import type { Call } from './call.ts';
import type { Watched } from './event-streams.ts';
import { HttpProblem } from './problem.ts';

const CURSOR = /^\d{1,15}\.\d{1,15}(?:\.[0-9a-f]{1,32})?$/;
const ID_CHARS_MAX = 64 * 1024;

/** Whether the caller wants events as they come. */
export function wantsStream({ headers }: Call): boolean {
  return (headers.accept ?? '').toLowerCase().includes('text/event-stream');
}

/** `input` is held against the table. Of a run all is told from its beginning, of others what comes. */
export function watchedRepository(
  call: Call,
  repository: ServedRepository,
  input: { run?: string; after?: string; fromNow?: boolean; withoutOutput?: boolean; limit?: number },
): Watched {
  const { run, after, fromNow, withoutOutput, limit } = input;
  if (limit !== undefined) throw new HttpProblem(400, 'usage', 'a stream has no limit');
  const at = lastEventId(call) ?? after;
  if (at !== undefined && !CURSOR.test(at)) throw notAnId(at);
  return {
    repositories: [repository],
    wanted: {
      ...(run !== undefined && { run }),
      ...((fromNow ?? run === undefined) && { fromNow: true }),
      ...(withoutOutput && { withoutOutput }),
    },
    after: new Map(at === undefined ? [] : [[repository.name, at]]),
    isOfAll: false,
  };
}

/** A repository that the id does not know was not there then: it is followed from now on. */
export function watchedAll(call: Call, repositories: readonly ServedRepository[]): Watched {
  if (!wantsStream(call))
    throw new HttpProblem(
      406,
      'usage',
      'these events are only sent as they come: send Accept: text/event-stream',
    );
  const withoutOutput = call.query.get('withoutOutput') === 'true';
  const unknown = [...call.query.keys()].find((name) => name !== 'withoutOutput' && name !== 'after');
  if (unknown !== undefined)
    throw new HttpProblem(400, 'usage', 'the query may have after and withoutOutput, and nothing else');
  const at = lastEventId(call) ?? call.query.get('after') ?? '';
  const after = new Map<string, string>();
  for (const part of at === '' ? [] : at.split(',')) {
    const [name, cursor, more] = part.split(':');
    if (name === undefined || cursor === undefined || more !== undefined || !CURSOR.test(cursor))
      throw notAnId(at);
    after.set(name, cursor);
  }
  return {
    repositories,
    wanted: { fromNow: true, ...(withoutOutput && { withoutOutput }) },
    after,
    isOfAll: true,
  };
}

function lastEventId({ headers }: Call): string | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (Array.isArray(id) || id.length > ID_CHARS_MAX) throw notAnId(String(id));
  return id;
}

function notAnId(id: string): HttpProblem {
  return new HttpProblem(
    400,
    'usage',
    `${JSON.stringify(id.slice(0, 100))} is not the id of an event of this stream`,
  );
}
