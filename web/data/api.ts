/** Asks the server for something: an operation over HTTP, with the session of this browser. It keeps nothing. */
import { placed } from './place.ts';

/** What went wrong, in the server's own words. */
export class Problem extends Error {
  /** 0 where the server did not answer at all. */
  readonly status: number;
  readonly code: string;
  readonly fields: readonly { pointer: string; detail: string }[];
  /** Of a check that failed: what it printed. */
  readonly output: string | undefined;
  /** Who was first, and what they said. */
  readonly answered: { answer: string; by: string } | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    fields: readonly { pointer: string; detail: string }[] = [],
    output?: string,
    answered?: { answer: string; by: string },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.output = output;
    this.answered = answered;
  }
}

export interface Asking {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  /** An object; without a method it is posted. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Rejects with a Problem, or with an AbortError. */
export async function ask<T = unknown>(path: string, asking: Asking = {}): Promise<T> {
  return (await (await request(path, asking)).json()) as T;
}

/** The same for what is no JSON, such as a patch. @public */
export async function request(
  path: string,
  { method, query = {}, body, headers = {}, signal }: Asking = {},
): Promise<Response> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) for (const each of [value].flat()) search.append(name, String(each));
  const address = placed(search.size === 0 ? path : `${path}?${search.toString()}`);
  const response = await fetch(address, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
    credentials: 'same-origin',
    redirect: 'error',
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'unreachable', 'the server does not answer; is bosun serve still running?');
  });
  if (response.ok) return response;
  throw await problemOf(response);
}

/** What came of an answer is not all of it. */
export class BrokenOff extends Error {}

/** The lines of an answer as they come, many at a time. */
export async function* linesOf({ body }: Response): AsyncGenerator<string[]> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const lines = (rest + next.value).split('\n');
    rest = lines.pop()!;
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') throw new BrokenOff('the answer ended in the middle of a line');
}

export function repositoryPath(repository: string): string {
  return `/api/repositories/${pathPart(repository)}`;
}

export function runPath(repository: string, run: string): string {
  return `${repositoryPath(repository)}/runs/${pathPart(run)}`;
}

/** One part of an address. Of `.` and `..` a browser would make another address, encoded or not. */
export function pathPart(name: string): string {
  if (isFolded(name)) throw new Problem(404, 'not-found', `nothing is called "${name}"`);
  return encodeURIComponent(name);
}

export function isFolded(name: string): boolean {
  return name === '' || name === '.' || name === '..';
}

async function problemOf(response: Response): Promise<Problem> {
  const { status } = response;
  try {
    const said = (await response.json()) as {
      code?: string;
      detail?: string;
      errors?: { pointer: string; detail: string }[];
      output?: string;
      answered?: { answer: string; by: string };
    };
    return new Problem(
      status,
      said.code ?? 'system',
      said.detail ?? `the server says ${status}`,
      said.errors,
      said.output,
      said.answered,
    );
  } catch {
    return new Problem(status, 'system', `the server says ${status}`);
  }
}
