/**
 * The runtime for plain commands: the prompt comes on stdin and in a file, the output goes to a file that
 * BOSUN_OUTPUT names. Also runs the commands of `run` tasks and of `check`.
 */
import { constants as modes, open, rm, writeFile } from 'node:fs/promises';
import { lstatSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import type { FailReason, Outcome } from '../contract/run.ts';
import type { Json } from '../contract/workflow.ts';
import type { Exit, Running } from '../system/process.ts';
import { formatDuration, TIMER_MS_MAX } from '../base/units.ts';
import { BosunError } from '../contract/errors.ts';
import type { OutputSink, Piece } from './output.ts';
import type { Job, Result, Runtime, StopSignal } from './runtime.ts';

/** How long a command may take to end by itself once it was asked to; then it is ended. */
const GRACE_MS = 500;
const OUTPUT_FILE_BYTES_MAX = 1024 * 1024;

export const cli: Runtime = {
  async run(job: Job): Promise<Result> {
    const [outputFile, promptFile] = [path.join(job.files, 'output'), path.join(job.files, 'prompt')];
    const prompt = job.agent ? promptOf(job) : '';
    if (job.agent) await writeFile(promptFile, prompt);
    const env = {
      ...job.env,
      BOSUN_OUTPUT: outputFile,
      ...(job.agent && { BOSUN_PROMPT: promptFile }),
    };
    const command = job.agent ? job.agent.command! : job.prompt;
    const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
    const ended = await runCommand({ ...job, argv, env, input: prompt, streams: ['stdout', 'stderr'] });
    if (job.agent) await rm(promptFile, { force: true });
    const result = await readOutput(outputFile, ended.stdoutTail);
    return ended.outcome.kind === 'done' ? result : { outcome: ended.outcome, output: null };
  },
};

/** An agent that keeps no memory of its own is told everything again. */
function promptOf({ agent, prompt, feedback }: Job): string {
  return [agent?.prompt, prompt, feedback].filter(Boolean).join('\n\n');
}

export interface Command {
  argv: string[];
  env: Record<string, string>;
  input: string;
  streams: [Piece['stream'], Piece['stream']];
  timeoutMs: number | undefined;
  stop: StopSignal;
  output: OutputSink;
  launch: Job['launch'];
}

export interface Ended {
  outcome: Outcome;
  stdoutTail: string;
  stderrTail: string;
}

/** Runs one command to its end, its time-out or its cancellation. The first cause wins. */
export async function runCommand(command: Command): Promise<Ended> {
  const { argv, env, stop, timeoutMs } = command;
  if (stop.graceful.aborted) return { outcome: { kind: 'cancelled' }, stdoutTail: '', stderrTail: '' };
  let running: Running;
  try {
    running = await command.launch({ argv, env, ...(command.input !== '' && { input: command.input }) });
  } catch (error) {
    return failedToStart(error);
  }
  let cause: 'timeout' | 'cancelled' | undefined;
  const timers: NodeJS.Timeout[] = [];
  const end = (why: 'timeout' | 'cancelled'): void => {
    if (cause) return;
    cause = why;
    running.signal('SIGTERM');
    timers.push(setTimeout(() => running.kill(), GRACE_MS));
  };
  const onGraceful = (): void => end('cancelled');
  const onNow = (): void => {
    cause ??= 'cancelled';
    running.kill();
  };
  stop.graceful.addEventListener('abort', onGraceful, { once: true });
  stop.now.addEventListener('abort', onNow, { once: true });
  // Aborted while the process was being made: the listeners came too late.
  if (stop.now.aborted) onNow();
  else if (stop.graceful.aborted) onGraceful();
  if (timeoutMs !== undefined)
    timers.push(setTimeout(() => end('timeout'), Math.min(timeoutMs, TIMER_MS_MAX)));
  try {
    const [stdoutTail, stderrTail, exit] = await Promise.all([
      command.output.read(running.stdout, command.streams[0]),
      command.output.read(running.stderr, command.streams[1]),
      running.exited,
    ]);
    return { outcome: outcomeOf(exit, cause, timeoutMs), stdoutTail, stderrTail };
  } catch (error) {
    return failedToStart(error);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    stop.graceful.removeEventListener('abort', onGraceful);
    stop.now.removeEventListener('abort', onNow);
  }
}

function outcomeOf(
  exit: Exit,
  cause: 'timeout' | 'cancelled' | undefined,
  timeoutMs: number | undefined,
): Outcome {
  if (cause === 'cancelled') return { kind: 'cancelled' };
  if (cause === 'timeout') return failed('timeout', `it did not end within ${formatDuration(timeoutMs!)}`);
  if (exit.breach) return failed('limit', exit.breach.message);
  if (exit.code === 0) return { kind: 'done' };
  if (exit.signal !== null) {
    return { ...failed('exit', `it was ended by ${exit.signal}`), signal: exit.signal };
  }
  const code = exit.code ?? 1;
  return { ...failed('exit', `it ended with exit code ${code}${hintOf(code)}`), exitCode: code };
}

/** A shell says with its exit code what became of the command in it. */
function hintOf(code: number): string {
  if (code === 126) return ' (not executable)';
  if (code === 127) return ' (command not found)';
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return signal ? ` (${signal[0]})` : '';
}

function failed(reason: FailReason, message: string): Extract<Outcome, { kind: 'failed' }> {
  return { kind: 'failed', reason, message };
}

/** Also for what no process can be started with, such as a zero byte in an argument. */
function failedToStart(error: unknown): Ended {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof BosunError) && code !== 'ERR_INVALID_ARG_VALUE') throw error;
  return { outcome: failed('start', message), stdoutTail: '', stderrTail: '' };
}

/** The file that BOSUN_OUTPUT names, which is then gone, else what was printed. JSON where it is JSON. */
async function readOutput(file: string, printed: string): Promise<Result> {
  let text: string;
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  try {
    if (!isThere) return { outcome: { kind: 'done' }, output: printed.trim() === '' ? null : printed.trim() };
    // The file is the agent's: no link is followed, no pipe is waited for.
    await using handle = await open(file, modes.O_RDONLY | modes.O_NOFOLLOW | modes.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) {
      return { outcome: failed('output', 'its output file is not a plain file'), output: null };
    }
    const buffer = Buffer.alloc(OUTPUT_FILE_BYTES_MAX + 1);
    const { bytesRead } = await handle.read(buffer);
    if (bytesRead > OUTPUT_FILE_BYTES_MAX) {
      return {
        outcome: failed('output', `its output file is larger than ${OUTPUT_FILE_BYTES_MAX} bytes`),
        output: null,
      };
    }
    text = buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const why = (error as Error).message;
    return { outcome: failed('output', `its output file cannot be read: ${why}`), output: null };
  } finally {
    if (isThere) await rm(file, { recursive: true, force: true });
  }
  return { outcome: { kind: 'done' }, output: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text.trimEnd();
  }
}
