/**
 * Runs an agent's program that is talked with over its stdin and stdout, one JSON object a line, until all is said or
 * something ends it. What is said is the business of those who talk (claude-code.ts, acp.ts).
 */
import type { Readable, Writable } from 'node:stream';
import { whenAwakeFor } from '../../base/awake.ts';
import type { Running } from '../../system/process/process.ts';
import { runCommand, failed, type CommandEnd } from './command.ts';
import { MessageStream } from './message-stream.ts';
import type { Job } from '../runtime.ts';

/** How long a program may take to end once its stdin is closed. */
const LEAVE_MS = 1500;
/** How long those who talk may take to notice that the program is gone. */
const NOTICE_MS = 2000;
/** A program that has not said a word for so long will not. Long, since a hundred may start at once. */
const START_MS = 10 * 60_000;
/** The program's two ends, as far as they concern those who talk. */
export interface Peer {
  stdin: Writable;
  /** Whole messages, nothing else; ends with the program. */
  stdout: Readable;
  /** Resolves when the program has ended. */
  exited: Promise<unknown>;
  kill(): void;
  /** Ends it at once: that is the attempt's failure. */
  breakOff(why: string): void;
}

export interface Talk {
  argv: string[];
  env: Record<string, string>;
  /** Resolves when all is said; must settle when the program ends. What it throws is told where nothing else explains the end. */
  converse(peer: Peer): Promise<void>;
  /** Asks the agent to stop what it does; without it the program gets a SIGTERM. It is ended soon in any case. */
  interrupt?(): void;
  /** For tests that will not wait. */
  startMs?: number | undefined;
}

/** `done` where all was said before anything else ended it, however the program ended then. The first cause wins. */
export async function runTalk(job: Job, talk: Talk): Promise<CommandEnd> {
  let first: 'said' | 'stopped' | 'broken' | undefined;
  let problem: string | undefined;
  let conversation: Promise<void> | undefined;
  let garbage = (): string => '';
  const timers: NodeJS.Timeout[] = [];
  let callOff = (): void => {};

  const launch: Job['launch'] = async (what) => {
    const running = await job.launch({ ...what, talks: true });
    const stdin = running.stdin!;
    stdin.on('error', () => {}); // it may end without listening
    const breakOff = (why: string): void => {
      first ??= 'broken';
      problem ??= why;
      messages.stop();
      running.kill();
    };
    const messages = new MessageStream(breakOff, stdin);
    const { startMs = START_MS } = talk;
    callOff = whenAwakeFor(startMs, () => {
      if (!messages.hasBegun) breakOff(`it said nothing for ${startMs / 1000} s`);
    });
    messages.readFrom(running.stdout);
    garbage = () => messages.garbage;
    conversation = talk
      .converse({
        stdin,
        stdout: messages,
        exited: running.exited.catch(() => {}),
        kill: () => running.kill(),
        breakOff,
      })
      .then(
        () => void (first ??= 'said'),
        (error: unknown) => void (problem ??= (error as Error).message),
      )
      .finally(() => {
        messages.resume(); // nobody listens any more, and it must not wait for that
        stdin.end();
        timers.push(setTimeout(() => running.kill(), LEAVE_MS));
      });
    return stoppable(running, () => {
      first ??= 'stopped';
      if (first === 'stopped') talk.interrupt?.();
      return talk.interrupt !== undefined;
    });
  };

  try {
    const ended = await runCommand({
      ...job,
      argv: talk.argv,
      env: talk.env,
      input: '',
      streams: ['stdout', 'stderr'],
      launch,
      readStdout: (stdout) => new Promise((resolve) => stdout.once('close', () => resolve(garbage()))),
    });
    await Promise.race([
      conversation,
      new Promise<void>((resolve) => timers.push(setTimeout(resolve, NOTICE_MS))),
    ]);
    if (first === 'said') return { ...ended, outcome: { kind: 'done' } };
    if (first === 'broken') return { ...ended, outcome: failed('agent', problem!) };
    return ended.stdoutTail === '' && problem !== undefined ? { ...ended, stdoutTail: problem } : ended;
  } finally {
    callOff();
    for (const timer of timers) clearTimeout(timer);
  }
}

/** The same, but those who ask it to end are heard first. */
function stoppable(running: Running, onAsked: () => boolean): Running {
  return {
    pid: running.pid,
    stdout: running.stdout,
    stderr: running.stderr,
    exited: running.exited,
    signal: (signal) => {
      if (!onAsked()) running.signal(signal);
    },
    kill: () => {
      onAsked();
      running.kill();
    },
  };
}
