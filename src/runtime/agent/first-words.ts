/** What an agent is told at the start of an attempt: everything, or only what is new where it remembers the rest. */
import type { Job } from '../runtime.ts';

const INTERRUPTED =
  'You were interrupted. Your files are as you left them: look at where you were, and go on with your task.';
const AGAIN =
  'Your last attempt failed. All files are as they were before it: start again, and do it better.';

/** `session` is the conversation that the agent really goes on with. */
export function firstWords({ prompt, feedback, added }: Job, session: Job['session'], more?: string): string {
  const words = !session
    ? [prompt, feedback]
    : session.fork
      ? [AGAIN, prompt, feedback]
      : [feedback ?? INTERRUPTED];
  return [...words, added, more].filter(Boolean).join('\n\n');
}
