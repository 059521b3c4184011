/** Workers, templates and work items: kept in the user's records. What became of them is in journals: see executions.ts. */
import { BosunError } from '../contract/errors.ts';
import type { Asked, Reading } from '../contract/operations.ts';
import type { ShownWorker, Template, Worker, WorkItem } from '../contract/serving-schema.ts';
import { RECORDS_MAX, type RecordKind } from '../store/records/kept-records.ts';
import { openRecords, type OpenRecords } from '../store/records/records.ts';
import { busyWorkers } from './executions.ts';

interface RecordOf {
  worker: Worker;
  template: Template;
  item: WorkItem;
}

const LIST_MAX = 100;
const ID = /^[\w.-]{1,200}$/;
const WORDS: Record<RecordKind, string> = { worker: 'worker', template: 'template', item: 'work item' };

export async function listWorkers({ limit = LIST_MAX, after }: Reading<'workers'>): Promise<ShownWorker[]> {
  using records = openRecords();
  const workers = records.kept.list('worker', limit, after) as Worker[];
  const busy = await busyWorkers(records.repositories.all());
  return workers.map((worker) => ({
    ...worker,
    status: worker.offline ? 'offline' : busy.has(worker.id) ? 'busy' : 'idle',
  }));
}

export function listTemplates({ limit = LIST_MAX, after }: Reading<'templates'>): Template[] {
  using records = openRecords();
  return records.kept.list('template', limit, after) as Template[];
}

export function listItems({ limit = LIST_MAX, after }: Reading<'items'>): WorkItem[] {
  using records = openRecords();
  return records.kept.list('item', limit, after) as WorkItem[];
}

export function putWorker({ id, name, runtime, model, command, offline }: Asked<'putWorker'>): Worker {
  return put('worker', {
    id,
    name,
    ...(runtime !== undefined && { runtime }),
    ...(model !== undefined && { model }),
    ...(command !== undefined && { command }),
    ...(offline && { offline }),
  });
}

export function putTemplate({ id, name, prompt, check }: Asked<'putTemplate'>): Template {
  return put('template', { id, name, prompt, ...(check !== undefined && { check }) });
}

export function putItem({ id, title, text }: Asked<'putItem'>): WorkItem {
  return put('item', { id, title, text });
}

/** Executions that are under way have what they need. */
export function removeRecord<Kind extends RecordKind>(kind: Kind, id: string): RecordOf[Kind] {
  using records = openRecords();
  const found = needRecord(records, kind, id);
  records.kept.remove(kind, id);
  return found;
}

export function needRecord<Kind extends RecordKind>(
  records: OpenRecords,
  kind: Kind,
  id: string,
): RecordOf[Kind] {
  const found = records.kept.get(kind, id);
  if (found !== undefined) return found as RecordOf[Kind];
  throw new BosunError('not-found', `there is no ${WORDS[kind]} ${JSON.stringify(id.slice(0, 200))}`);
}

function put<T extends { id: string }>(kind: RecordKind, value: T): T {
  const { id } = value;
  if (!ID.test(id))
    throw new BosunError('usage', `the id of a ${WORDS[kind]} has letters, digits, dots and hyphens only`);
  using records = openRecords();
  if (records.kept.put(kind, id, value)) return value;
  throw new BosunError(
    'wrong-state',
    `there are ${RECORDS_MAX} of these, which is the most; remove some first`,
  );
}
