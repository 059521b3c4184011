/** The record of one task: its attempts, what its agents asked for, where they were not let, what it gave. */
import type { EventOf } from '../../contract/event.ts';
import type { AttemptReport, TaskReport } from '../../contract/report.ts';
import type { Service } from '../../contract/services.ts';
import type { Json } from '../../contract/workflow.ts';
import { HISTORY_LIMITS } from './limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';

export interface TaskHistory extends Pick<TaskReport, 'attempts' | 'access' | 'denied' | 'deniedLeftOut'> {
  services: Service[];
  /** What it gave when it ended, or a word on why that is not here. */
  output: Json;
}

export function newTask(): TaskHistory {
  return { attempts: [], access: [], denied: [], deniedLeftOut: 0, services: [], output: null };
}

export function attemptOf({ attempts }: TaskHistory, attempt: number): AttemptReport | undefined {
  return attempts.findLast(({ n }) => n === attempt);
}

export function addAccess(
  { access }: TaskHistory,
  { id, attempt, globs, patch }: EventOf<'access.requested'>,
): void {
  if (access.length >= HISTORY_LIMITS.listEntries) return;
  access.push({
    id,
    attempt,
    globs: globs.map(clipGlob),
    ...(patch !== undefined && { patch: cutAndCount(patch, HISTORY_LIMITS.messageChars) }),
    answer: null,
    by: null,
    why: null,
  });
}

export function answerAccess({ access }: TaskHistory, event: EventOf<'access.answered'>): void {
  const { id, answer, by, why, globs } = event;
  const asked = access.find((each) => each.id === id);
  if (!asked) return;
  Object.assign(asked, {
    answer,
    by,
    why: cutAndCount(why, HISTORY_LIMITS.messageChars),
    globs: globs.map(clipGlob),
  });
}

/** Each once, whichever attempt it was. */
export function addService({ services }: TaskHistory, { name, port }: EventOf<'service.announced'>): void {
  const isKnown = services.some((each) => each.name === name && each.port === port);
  if (!isKnown && services.length < HISTORY_LIMITS.listEntries) services.push({ name, port });
}

/** Each place once. */
export function addDenied(task: TaskHistory, { host, port, why }: EventOf<'attempt.denied'>): void {
  const { denied } = task;
  const told = cutAndCount(why, HISTORY_LIMITS.lineChars);
  const known = denied.find((each) => each.host === host && each.port === port && each.why === told);
  if (known) known.count += 1;
  else if (denied.length < HISTORY_LIMITS.deniedPerTask) denied.push({ host, port, why: told, count: 1 });
  else task.deniedLeftOut += 1;
}

function clipGlob(glob: string): string {
  return cutAndCount(glob, HISTORY_LIMITS.lineChars);
}
