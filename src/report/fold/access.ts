/** What the agents of a task asked for beyond their scopes, and what they were told, for a report. */
import type { EventOf } from '../../contract/event.ts';
import type { AccessReport, TaskReport } from '../../contract/report.ts';
import { clip, LIMITS } from '../limits.ts';

type Access = Pick<TaskReport, 'access'>;

export function addAccess({ access }: Access, { id, attempt, globs }: EventOf<'access.requested'>): void {
  if (access.length >= LIMITS.listEntries) return;
  access.push({ id, attempt, globs: globs.map(clipGlob), answer: null, by: null, why: null });
}

export function answerAccess({ access }: Access, event: EventOf<'access.answered'>): void {
  const { id, answer, by, why, globs } = event;
  const asked = access.find((each) => each.id === id);
  if (!asked) return;
  const said: Partial<AccessReport> = { answer, by, why: clip(why, LIMITS.messageChars) };
  Object.assign(asked, said, { globs: globs.map(clipGlob) });
}

function clipGlob(glob: string): string {
  return clip(glob, LIMITS.lineChars);
}
