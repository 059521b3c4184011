/**
 * Runs one command to its end, its time-out or its cancellation, whatever the command is: a task's own, a check, an
 * agent's program. It knows nothing of what the output means.
 */
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { FailReason, Outcome } from '../../contract/run.ts';
import type { Exit, Running } from '../../system/process/process.ts';
import { whenAwakeFor } from '../../base/awake.ts';
import { formatDuration } from '../../base/units.ts';
import { BosunError, HelperDied } from '../../contract/errors.ts';
import type { OutputSink, Piece } from '../output/output.ts';
import type { Job, StopSignal } from '../runtime.ts';

/** How long a command may take to end by itself once it was asked to; then it is ended. */
const GRACE_MS = 500;
/** Shorter waits for a person are no reason to look again. */
const HELD_MS_MIN = 50;

export interface AgentCommand {
  argv: string[];
  env: Record<string, string>;
  input: string;
  streams: [Piece['stream'], Piece['stream']];
  timeoutMs: number | undefined;
  heldMs?: Job['heldMs'];
  stop: StopSignal;
  output: OutputSink;
  launch: Job['launch'];
  /** Reads its stdout instead of `output`, to the end; resolves with the last of it. */
  readStdout?(stdout: Readable): Promise<string>;
  /** Hears its stderr as well. */
  onStderr?(chunk: Buffer): void;
  /** Aborted when it is of no use that it goes on: it is ended, and that is a failure. */
  isFutile?: AbortSignal;
}

export interface CommandEnd {
  outcome: Outcome;
  stdoutTail: string;
  stderrTail: string;
}

type Cause = 'timeout' | 'cancelled' | 'futile';

/** Runs one command to its end, its time-out or its cancellation. The first cause wins. */
export async function runCommand(command: AgentCommand): Promise<CommandEnd> {
  const { argv, env, stop, timeoutMs } = command;
  if (stop.graceful.aborted) return { outcome: { kind: 'cancelled' }, stdoutTail: '', stderrTail: '' };
  let running: Running;
  try {
    running = await command.launch({ argv, env, ...(command.input !== '' && { input: command.input }) });
  } catch (error) {
    return failedToStart(error);
  }
  let cause: Cause | undefined;
  const timers: NodeJS.Timeout[] = [];
  const end = (why: Cause): void => {
    if (cause) return;
    cause = why;
    running.signal('SIGTERM');
    timers.push(setTimeout(() => running.kill(), GRACE_MS));
  };
  const onGraceful = (): void => end('cancelled');
  const onFutile = (): void => end('futile');
  const onNow = (): void => {
    cause ??= 'cancelled';
    running.kill();
  };
  stop.graceful.addEventListener('abort', onGraceful, { once: true });
  stop.now.addEventListener('abort', onNow, { once: true });
  command.isFutile?.addEventListener('abort', onFutile, { once: true });
  if (command.onStderr) running.stderr.on('data', command.onStderr);
  // Aborted while the process was being made: the listeners came too late.
  if (stop.now.aborted) onNow();
  else if (stop.graceful.aborted) onGraceful();
  let allowedMs = command.heldMs?.() ?? 0;
  let callOff = (): void => {};
  const wait = (ms: number): void => {
    const look = (): void => {
      const heldMs = (command.heldMs?.() ?? 0) - allowedMs;
      if (heldMs < HELD_MS_MIN) return end('timeout');
      allowedMs += heldMs;
      wait(heldMs);
    };
    callOff = whenAwakeFor(ms, look);
  };
  if (timeoutMs !== undefined) wait(timeoutMs);
  try {
    const [stdoutTail, stderrTail, exit] = await Promise.all([
      command.readStdout?.(running.stdout) ?? command.output.read(running.stdout, command.streams[0]),
      command.output.read(running.stderr, command.streams[1]),
      running.exited,
    ]);
    return { outcome: outcomeOf(exit, cause, timeoutMs), stdoutTail, stderrTail };
  } catch (error) {
    return failedToStart(error);
  } finally {
    callOff();
    for (const timer of timers) clearTimeout(timer);
    stop.graceful.removeEventListener('abort', onGraceful);
    stop.now.removeEventListener('abort', onNow);
    command.isFutile?.removeEventListener('abort', onFutile);
  }
}

export function failed(reason: FailReason, message: string): Extract<Outcome, { kind: 'failed' }> {
  return { kind: 'failed', reason, message };
}

function outcomeOf(exit: Exit, cause: Cause | undefined, timeoutMs: number | undefined): Outcome {
  if (cause === 'cancelled') return { kind: 'cancelled' };
  if (cause === 'timeout') return failed('timeout', `it did not end within ${formatDuration(timeoutMs!)}`);
  if (cause === 'futile') return failed('exit', 'it was ended since it could not go on');
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

/** Also for what no process can be started with, such as a zero byte in an argument. */
function failedToStart(error: unknown): CommandEnd {
  if (error instanceof HelperDied)
    return { outcome: { kind: 'lost', because: error.message }, stdoutTail: '', stderrTail: '' };
  const { code, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof BosunError) && code !== 'ERR_INVALID_ARG_VALUE') throw error;
  return { outcome: failed('start', message), stdoutTail: '', stderrTail: '' };
}
