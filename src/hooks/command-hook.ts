/**
 * A hook that is a command: JSON on its stdin, its exit code decides. It runs as the user, with no fence and with a
 * clean environment; whatever it leaves running ends with it.
 */
import type { Readable } from 'node:stream';
import { BosunError } from '../contract/errors.ts';
import type { BeforeAttempt, HookAnswer, HookInput } from '../contract/hook.ts';
import type { Exit, Launcher } from '../system/process/process.ts';
import { answerFromText, shortVeto } from './hook-answer.ts';
import type { TellUntil } from './hook.ts';

/** More than any answer needs; whoever prints more is ended. */
const PRINTED_BYTES_MAX = 1024 * 1024;
/** Of its stderr, which says why it said no. */
const SAID_CHARS_MAX = 2000;
/** What cannot be ended is not waited for. */
const KILLED_MS = 2000;

export interface HookCommand {
  /** A string goes to the shell. */
  command: string | readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Starts it with no fence, and ends all of it. */
  launcher: Launcher;
}

interface Ended extends Exit {
  stdout: string;
  said: string;
}

export async function askCommand(
  command: HookCommand,
  input: BeforeAttempt,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const ended = await runHookCommand(command, input, signal);
  if (ended.code === 0) return answerFromText(ended.stdout);
  return { veto: vetoIn(ended) };
}

export async function tellCommand(
  command: HookCommand,
  input: object,
  { signal }: Pick<TellUntil, 'signal'>,
): Promise<void> {
  const ended = await runHookCommand(command, input, signal);
  if (ended.code === 0) return;
  throw new BosunError('system', `${describeEnd(ended)}${ended.said === '' ? '' : `: ${ended.said}`}`);
}

async function runHookCommand(
  { command, cwd, env, launcher }: HookCommand,
  input: object,
  signal: AbortSignal,
): Promise<Ended> {
  signal.throwIfAborted();
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
  const { type, run, task, attempt } = input as Partial<HookInput & { task: string; attempt: number }>;
  const names = { BOSUN_HOOK: type, BOSUN_RUN: run, BOSUN_TASK: task, BOSUN_ATTEMPT: attempt };
  const own = Object.entries(names).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const running = launcher.launch({
    argv,
    cwd,
    env: { ...env, ...(Object.fromEntries(own) as Record<string, string>) },
    input: `${JSON.stringify(input)}\n`,
  });
  const tooMuch = new AbortController();
  let leftBytes = PRINTED_BYTES_MAX;
  const read = (stream: Readable): Buffer[] => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => {
      if (leftBytes < 0) return;
      leftBytes -= chunk.length;
      if (leftBytes >= 0) chunks.push(chunk);
      else
        tooMuch.abort(new BosunError('system', `it printed more than ${PRINTED_BYTES_MAX / 1024 ** 2} MB`));
    });
    stream.on('error', () => {}); // what it said until then is enough
    return chunks;
  };
  const stdout = read(running.stdout);
  const stderr = read(running.stderr);
  const stop = AbortSignal.any([signal, tooMuch.signal]);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const kill = (): void => {
    running.kill();
    setTimeout(() => stopped.reject(stop.reason), KILLED_MS).unref();
  };
  stop.addEventListener('abort', kill, { once: true });
  if (stop.aborted) kill();
  try {
    const exit = await Promise.race([running.exited, stopped.promise]);
    stop.throwIfAborted();
    return { ...exit, stdout: textOf(stdout), said: saidIn(textOf(stderr)) };
  } finally {
    stop.removeEventListener('abort', kill);
  }
}

/** JSON with a reason counts before what it said on stderr. */
function vetoIn(ended: Ended): string {
  try {
    const { veto } = answerFromText(ended.stdout);
    if (veto !== undefined) return veto;
  } catch {
    // its exit code says no in any case
  }
  return ended.said === '' ? describeEnd(ended) : shortVeto(ended.said);
}

function describeEnd({ code, signal }: Exit): string {
  return code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
}

/** Its last words. */
function saidIn(stderr: string): string {
  const text = stderr.trim();
  return text.length <= SAID_CHARS_MAX ? text : `…${text.slice(-SAID_CHARS_MAX).toWellFormed()}`;
}

function textOf(chunks: Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
