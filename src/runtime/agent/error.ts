/** What kind of failure an agent speaks of, from the status that the model's server gave or else from its words. */
import { cutText } from '../../base/cut-text.ts';
import { saysTooLong } from '../../base/too-long.ts';
import type { AgentError, AgentErrorKind } from '../../contract/model.ts';

const MESSAGE_CHARS_MAX = 2000;

/** In this order: the first that fits. Words of the agents and of the servers behind them. */
const WORDS: [RegExp, AgentErrorKind][] = [
  [/budget|insufficient[_ ]quota|credit balance|billing/i, 'budget'],
  [
    /unauthori[sz]ed|forbidden|invalid[_ ]?(x-)?api[_ -]?key|authentication|not logged in|please run .*login/i,
    'auth',
  ],
  [/rate[_ -]?limit|too many requests/i, 'rate-limit'],
  [
    /overloaded|internal server error|server[_ ]error|bad gateway|service unavailable|high demand/i,
    'overloaded',
  ],
  [/content[_ ]filter|refus(al|ed to answer)|usage policy/i, 'refused'],
  [/timed? ?out|idle timeout|ETIMEDOUT/i, 'timeout'],
  [
    /ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|socket hang up|connection|network|stream (closed|disconnected)|error sending request|unable to connect|fetch failed/i,
    'network',
  ],
  [/bad request|invalid[_ ]request|not found|does not exist|unsupported/i, 'bad-request'],
];

/** `status` is looked for in the message where it is not given, since some agents only print it. */
export function agentError(whole: string, given?: number): AgentError {
  const message = cutText(whole, MESSAGE_CHARS_MAX);
  const status = given ?? statusIn(message);
  const kind =
    (mayBeTooLong(status) && saysTooLong(message) ? 'context-full' : undefined) ??
    kindOfStatus(status, message) ??
    WORDS.find(([words]) => words.test(message))?.[1] ??
    'crashed';
  return { kind, message, ...(status !== undefined && { status }) };
}

/** Those of a refused request; some agents tell of none. */
function mayBeTooLong(status: number | undefined): boolean {
  return status === undefined || status === 400 || status === 413;
}

function kindOfStatus(status: number | undefined, message: string): AgentErrorKind | undefined {
  if (status === undefined) return undefined;
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'budget';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return /quota|budget|credit/i.test(message) ? 'budget' : 'rate-limit';
  if (status >= 500) return 'overloaded';
  return status >= 400 ? 'bad-request' : undefined;
}

function statusIn(message: string): number | undefined {
  const found = /\b(?:status|HTTP|code|error)\b[^0-9\n]{0,12}\b([45]\d\d)\b|\b([45]\d\d) [A-Z][a-z]+/.exec(
    message,
  );
  return found ? Number(found[1] ?? found[2]) : undefined;
}
