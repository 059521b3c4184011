/**
 * What the body of a request asks for, and what of it may be sent on. Small ones are read at once; a large one is read
 * in a thread, where it keeps nobody waiting. It sends nothing and tells nobody.
 */
import { isFields, type Fields } from '../../base/fields.ts';
import { inThread, ThreadFailure } from '../../base/in-thread.ts';
import { shapeOf } from '../../base/parse-json.ts';
import { limitReach, type ProviderReach, type Reached } from './reach.ts';
import { askForUsage, BodyProblem, parseBody } from './body.ts';
import type { Route } from './route.ts';
import { withoutTexts } from './without-texts.ts';
import { askedIn, type RequestFacts } from './estimate.ts';

/** The most that can be read without others noticing it, whatever is in it. */
const AT_ONCE_BYTES_MAX = 256 * 1024;
/** As quick to read, as long as it is mostly text: a long conversation is. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;
const TEXT_KEYS_MAX = 20_000;
const READ_MS_MAX = 10_000;
const THREAD_MEMORY_MB = 512;
/** Hosts and tools that a large request may name. */
const NAMED_MAX = 1000;

/** Which interface it is for. */
type Judging = { [key in 'api' | 'counts']?: Route[key] | undefined };

interface Reading {
  /** Nothing was left out of what is read: see `withoutTexts`. */
  isWhole: boolean;
  parse(): ReturnType<typeof parseBody>;
}

export interface Judged {
  asked: RequestFacts;
  /** What is sent in place of what came; absent where that is the same. */
  body?: Buffer;
  /** Of the request, and of one that it holds to be counted. */
  reached: Reached[];
}

/** Throws a BodyProblem. */
export async function judge(body: Buffer, route: Judging, reach: ProviderReach): Promise<Judged> {
  if (body.length <= TEXT_BYTES_MAX) {
    const { json, isWhole } = withoutTexts(body);
    const shape = shapeOf(json);
    if (body.length <= AT_ONCE_BYTES_MAX || shape.keys <= TEXT_KEYS_MAX)
      return judgeBody(body, route, reach, { isWhole, parse: () => parseBody(body, json, shape) });
  }
  const { api, counts } = route;
  try {
    let answer = await judgeInThread({ body, api, counts });
    if ('hosts' in answer) {
      const hosts = answer.hosts.filter((host) => reach.mayReach(new URL(host)));
      const tools = answer.tools.filter((tool) => reach.mayUse(tool));
      answer = await judgeInThread({ body, api, counts, allowed: { hosts, tools } });
    }
    if ('problem' in answer) throw new BodyProblem(answer.problem.status, answer.problem.message);
    if ('hosts' in answer) throw new Error('a body was judged without knowing what is allowed');
    const { body: changed, ...judged } = answer.judged;
    return { ...judged, ...(changed && { body: bufferOf(changed) }) };
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new BodyProblem(400, `bosun: cannot read the body: ${error.message}; send a smaller one`);
  }
}

function judgeBody(
  body: Buffer,
  { api: metered, counts }: Judging,
  reach: ProviderReach,
  { isWhole, parse }: Reading = { isWhole: true, parse: () => parseBody(body) },
): Judged {
  const api = metered ?? counts;
  const { value, isPlain } = body.length > 0 ? parse() : { value: undefined, isPlain: true };
  if (api === undefined) return { asked: askedIn(undefined, value), reached: [] };
  if (!isFields(value))
    throw new BodyProblem(
      400,
      'bosun: the body is not a JSON object, or one of too many parts; send a smaller one',
    );
  if (metered === 'responses' && value.background === true)
    throw new BodyProblem(403, 'bosun: what a model answers later is not metered; ask without "background"');
  const reached = [value, ...requestsIn(value)].map((request) => limitReach(api, request, reach));
  const isAsSent = isPlain && !reached.some(({ isChanged }) => isChanged);
  const isCompleted = metered === 'chat' && askForUsage(value);
  const isSame = isAsSent && !isCompleted;
  const judged = { asked: askedIn(metered, value), reached };
  // To write it anew takes all of it, and so does to tell whether two calls are the same.
  if (!isWhole && (!isSame || judged.asked.loop)) return judgeBody(body, { api: metered, counts }, reach);
  // What was judged is what is sent: other readers could see another value where a key stands twice.
  return isSame ? judged : { ...judged, body: Buffer.from(JSON.stringify(value)) };
}

/** What comes from a thread is a plain array of the same bytes. */
function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Gemini counts the tokens of a request that is within another. */
function requestsIn({ generateContentRequest, generate_content_request }: Fields): Fields[] {
  return [generateContentRequest, generate_content_request].filter(isFields);
}

interface Named {
  /** Such as https://example.com:8443 */
  hosts: string[];
  tools: string[];
}

interface Question {
  body: Uint8Array;
  api: Route['api'] | undefined;
  counts: Route['counts'] | undefined;
  /** Absent while nobody knows what it names. */
  allowed?: Named;
}

type Answer = { judged: Judged } | { problem: { status: number; message: string } } | Named;

const judgeInThread = inThread(
  import.meta.url,
  { msMax: READ_MS_MAX, memoryMbMax: THREAD_MEMORY_MB },
  ({ body, api, counts, allowed }: Question): Answer => {
    const [hosts, tools] = [new Set(allowed?.hosts), new Set(allowed?.tools)];
    // The first time everything may be, so that all that is named is found.
    const ask = (name: string, names: Set<string>): boolean =>
      allowed ? names.has(name) : names.size < NAMED_MAX && names.add(name).has(name);
    const reach: ProviderReach = {
      mayReach: ({ origin }) => ask(origin, hosts),
      mayUse: (tool) => ask(tool, tools),
    };
    try {
      const judged = judgeBody(bufferOf(body), { api, counts }, reach);
      const isKnown = allowed !== undefined || hosts.size + tools.size === 0;
      return isKnown ? { judged } : { hosts: [...hosts], tools: [...tools] };
    } catch (error) {
      if (!(error instanceof BodyProblem)) throw error;
      return { problem: { status: error.status, message: error.message } };
    }
  },
);
