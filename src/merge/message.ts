/** The messages of commits that reach a branch; their trailers say where they come from. */
import { writeUsd } from '../schedule/money/budget-words.ts';
import { IDENTITY, type Identity } from '../system/git/git.ts';

export const TASK_TRAILER = 'Bosun-Task';
const TITLE_CHARS_MAX = 72;
const TASKS_LISTED_MAX = 100;

export interface MessageParts {
  title: string;
  run: string;
  task: string;
  attempt: number;
  agent?: string;
  /** In dollars, null where nobody knows the price; an agent that asked no model has spent nothing. */
  costUsd?: number | null;
}

export function mergeMessage({ title, run, task, attempt, agent, costUsd }: MessageParts): string {
  const spent = costUsd === undefined && agent !== undefined ? 0 : costUsd;
  const trailers = [
    `Bosun-Run: ${oneLine(run)}`,
    `${TASK_TRAILER}: ${oneLine(task)}`,
    ...(agent === undefined ? [] : [`Bosun-Agent: ${oneLine(agent)}`]),
    `Bosun-Attempt: ${attempt}`,
    ...(spent === undefined ? [] : [`Bosun-Cost: ${spent === null ? 'unknown' : writeUsd(spent, 4)}`]),
  ];
  return `${titled(oneLine(title) || oneLine(task))}\n\n${trailers.join('\n')}\n`;
}

/** Of the one commit that has all of a run in it; `titles` are those of its tasks' commits. */
export function squashMessage(run: string, name: string, titles: readonly string[]): string {
  const listed = titles.slice(0, TASKS_LISTED_MAX).map((title) => `- ${oneLine(title)}`);
  const more = titles.length - listed.length;
  const rest = more > 0 ? [`- and ${more} more`] : [];
  const title = titles.length === 1 ? titles[0]! : `${name}: ${titles.length} tasks of run ${run}`;
  return `${titled(oneLine(title))}\n\n${[...listed, ...rest].join('\n')}\n\nBosun-Run: ${oneLine(run)}\n`;
}

/** A commit is the user's, with bosun's help; where git knows no user it is bosun's alone. */
export function withCoAuthor(message: string, author: Identity): string {
  if (author.email === IDENTITY.email) return message;
  return `${message.trimEnd()}\nCo-authored-by: ${IDENTITY.name} <${IDENTITY.email}>\n`;
}

function titled(line: string): string {
  const letters = Array.from(line);
  return letters.length <= TITLE_CHARS_MAX
    ? line
    : `${letters
        .slice(0, TITLE_CHARS_MAX - 1)
        .join('')
        .trimEnd()}…`;
}

/** Without what would steer a terminal or turn the text around. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}
