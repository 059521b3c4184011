/** The message of a task's commit on the run's branch; its trailers say where it comes from. */
export const TASK_TRAILER = 'Bosun-Task';
const TITLE_CHARS_MAX = 100;

export interface MessageParts {
  title: string;
  run: string;
  task: string;
  attempt: number;
  agent?: string;
  /** In dollars; 0 where the agent spent nothing, null where nobody knows the price. */
  costUsd?: number | null;
}

export function mergeMessage({ title, run, task, attempt, agent, costUsd = 0 }: MessageParts): string {
  const trailers = [
    `Bosun-Run: ${oneLine(run)}`,
    `${TASK_TRAILER}: ${oneLine(task)}`,
    ...(agent === undefined ? [] : [`Bosun-Agent: ${oneLine(agent)}`]),
    `Bosun-Attempt: ${attempt}`,
    `Bosun-Cost: ${costUsd === null ? 'unknown' : `$${costUsd.toFixed(4)}`}`,
  ];
  return `${oneLine(title).slice(0, TITLE_CHARS_MAX).trim() || oneLine(task)}\n\n${trailers.join('\n')}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
