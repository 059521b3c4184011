/**
 * Runs an agent that is a program which takes one prompt and prints JSON lines: launches it, listens, and goes on with
 * what people said meanwhile in a next turn of the same conversation. What the lines mean is the agent's own file's.
 */
import { awakeMs } from '../../base/awake.ts';
import { formatDuration } from '../../base/units.ts';
import { failed, runCommand, type AgentCommand, type CommandEnd } from './command.ts';
import { eachLine, readMessages, type AgentMessage } from './lines.ts';
import { AgentStory } from './story.ts';
import { WaitingSteers } from './waiting-steers.ts';
import type { Job, Result } from '../runtime.ts';

const STEER_CHARS_MAX = 64 * 1024;
/** Long, for a machine that has other things to do. */
const FETCH_MS_MAX = 60_000;

export interface AgentProgram {
  name: string;
  env: Record<string, string>;
  /** What to start for one prompt, which comes on stdin. */
  argv(session: Job['session']): string[];
  /** What it is told first, in the conversation that it really goes on with. */
  prompt(session: Job['session']): string;
  /** Brings the job's conversation to where the job is, where it lies elsewhere; if that fails, another is begun. */
  fetch?: string[];
  /** Takes one line that the program printed. */
  read(message: AgentMessage, story: AgentStory): void;
  /** Takes one line of its stderr, which is kept in any case. */
  readStderr?(line: string, story: AgentStory): void;
}

export async function runProgram(job: Job, program: AgentProgram): Promise<Result> {
  const story = new AgentStory(program.name, job);
  const endsAtMs = job.timeoutMs === undefined ? undefined : awakeMs() + job.timeoutMs;
  const steers = new WaitingSteers(STEER_CHARS_MAX);
  const stopListening = job.onSteer((text, about) => steers.add(text, about));
  const leftMs = (): number | undefined =>
    endsAtMs === undefined ? undefined : Math.max(1, endsAtMs + job.heldMs() - awakeMs());
  const around: Omit<AgentCommand, 'argv' | 'input' | 'timeoutMs'> = {
    ...job,
    env: { ...job.env, ...program.env },
    streams: ['stdout', 'stderr'],
  };
  try {
    let session = job.session;
    if (session && program.fetch) {
      const timeoutMs = Math.min(FETCH_MS_MAX, leftMs() ?? FETCH_MS_MAX);
      const { outcome } = await runCommand({ ...around, argv: program.fetch, input: '', timeoutMs });
      if (outcome.kind !== 'done') session = undefined;
    }
    let input = program.prompt(session);
    for (;;) {
      story.begin();
      const ended = await runCommand({
        ...around,
        argv: program.argv(session),
        input,
        timeoutMs: leftMs(),
        readStdout: (stdout) =>
          readMessages(stdout, {
            take: (message) => program.read(message, story),
            onGarbage: (said) =>
              story.giveUp({ kind: 'crashed', message: `it prints no messages, but: ${said}` }),
          }),
        isFutile: story.futile,
        onStderr: eachLine((line) => program.readStderr?.(line, story)),
      });
      const said = steers.take();
      if (said === undefined || !story.isDone(ended) || story.session === undefined) {
        return story.end(told(ended, job.timeoutMs));
      }
      input = said;
      session = { id: story.session, fork: false };
    }
  } finally {
    stopListening();
  }
}

/** A later turn had less time than the whole; people know of the whole. */
function told(ended: CommandEnd, timeoutMs: number | undefined): CommandEnd {
  if (timeoutMs === undefined || ended.outcome.kind !== 'failed' || ended.outcome.reason !== 'timeout')
    return ended;
  return { ...ended, outcome: failed('timeout', `it did not end within ${formatDuration(timeoutMs)}`) };
}
