/**
 * The programs through which hosts of pull requests are asked, `gh` and `glab`: with their own logins, in a directory
 * of no repository, through their `api` command alone, so that nothing in a title or a text is an option or a shell's.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseJson } from '../base/parse-json.ts';
import { BosunError } from '../contract/errors.ts';
import { capture, findProgram } from '../system/process/process.ts';
import { plainWords } from './failure.ts';

export interface HostProgram {
  name: 'gh' | 'glab';
  program: string;
  hostname: string;
  signal?: AbortSignal | undefined;
}

interface Call {
  method?: 'GET' | 'POST';
  body?: unknown;
  /** What is not there is an answer: undefined. */
  mayLack?: boolean;
}

const CALL_MS_MAX = 60_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const QUIET = {
  GH_PROMPT_DISABLED: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  GLAB_CHECK_UPDATE: 'false',
  NO_PROMPT: '1',
  NO_COLOR: '1',
};
/** They print requests, logins among them. */
const TELLING = /^(GIT_TRACE\w*|GIT_CURL_VERBOSE|GH_DEBUG|GLAB_DEBUG\w*|DEBUG)$/;

export function findHostProgram(name: HostProgram['name'], hostname: string): HostProgram | undefined {
  const program = findProgram(name);
  return program === undefined ? undefined : { name, program, hostname };
}

/** `endpoint`: below the host's API. What comes back was written by others: it is looked at field by field. */
export async function callHost(
  { name, program, hostname, signal }: HostProgram,
  endpoint: string,
  { method = 'GET', body, mayLack = false }: Call = {},
): Promise<unknown> {
  await using nowhere = await mkdtempDisposable(path.join(tmpdir(), 'bosun-host-'));
  const late = AbortSignal.timeout(CALL_MS_MAX);
  const input = body === undefined ? undefined : JSON.stringify(body);
  const json = ['-H', 'Content-Type: application/json', '--input', '-'];
  const argv = [program, 'api', '--hostname', hostname, '--method', method, ...(input ? json : []), endpoint];
  const { code, stdout, stderr, isCut } = await capture(argv, {
    cwd: nowhere.path,
    env: environment(),
    input,
    detached: true,
    signal: signal ? AbortSignal.any([signal, late]) : late,
    stdoutBytesMax: ANSWER_BYTES_MAX,
  });
  signal?.throwIfAborted();
  if (code === 0 && !isCut) {
    const answer = parseJson(stdout.toString());
    if (answer !== undefined) return answer;
    throw failed(name, hostname, 'its answer is not JSON, or too large');
  }
  if (late.aborted) throw failed(name, hostname, `it gave no answer within ${CALL_MS_MAX / 1000} s`);
  if (isCut) throw failed(name, hostname, 'its answer is too long');
  if (mayLack && /\bHTTP 404\b/.test(stderr)) return undefined;
  throw failed(name, hostname, plainWords(stderr) || `exit code ${code}`);
}

function failed(name: string, hostname: string, why: string): BosunError {
  return new BosunError(
    'network',
    `${name} could not ask ${hostname}: ${why}; see that it is logged in: ${name} auth status --hostname ${hostname}`,
  );
}

function environment(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !TELLING.test(entry[0]),
  );
  return { ...Object.fromEntries(own), ...QUIET };
}
