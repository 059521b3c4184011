/** The connections that were denied to a task, each place once, for a report. Keeps no more than a report has room for. */
import type { EventOf } from '../../contract/event.ts';
import type { TaskReport } from '../../contract/report.ts';
import { clip, LIMITS } from '../limits.ts';

type Denied = Pick<TaskReport, 'denied' | 'deniedLeftOut'>;

export function addDenied(report: Denied, { host, port, why }: EventOf<'attempt.denied'>): void {
  const { denied } = report;
  const told = clip(why, LIMITS.lineChars);
  const known = denied.find((each) => each.host === host && each.port === port && each.why === told);
  if (known) known.count += 1;
  else if (denied.length < LIMITS.deniedPerTask) denied.push({ host, port, why: told, count: 1 });
  else report.deniedLeftOut += 1;
}
