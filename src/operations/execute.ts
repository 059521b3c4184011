/** Starts an execution: a run of one task, made of a worker, a template and a work item. Its journal says of which. */
import { BosunError } from '../contract/errors.ts';
import type { Asked } from '../contract/operations.ts';
import type { ExecutionFacts, Template, Worker, WorkItem } from '../contract/serving-schema.ts';
import type { Workflow } from '../contract/workflow.ts';
import type { RunQueues } from '../run/run-queue.ts';
import { openRecords } from '../store/records/records.ts';
import { EXECUTION, find, served } from './executions.ts';
import { queueRun } from './queue.ts';
import { needRecord } from './records.ts';
import type { TrustOptions } from './trust.ts';
import { literally, workflowOfOne } from './workflow-of-one.ts';

/** Trust is the word of whoever asks: workers, templates and items are written by others. */
export type ExecuteOptions = Asked<'execute'> & TrustOptions & { queues?: RunQueues };

export async function execute(options: ExecuteOptions): Promise<ExecutionFacts> {
  const { workerId, workItemId, templateId, repositoryId, workspaceId } = options;
  using records = openRecords();
  const worker = needRecord(records, 'worker', workerId);
  const item = needRecord(records, 'item', workItemId);
  const template = needRecord(records, 'template', templateId);
  const { directory: cwd } = served(records, repositoryId);
  if (worker.offline)
    throw new BosunError('wrong-state', `worker ${workerId} is offline: choose another, or bring it back`);
  const earlier = workspaceId === undefined ? undefined : await earlierIn(workspaceId, repositoryId);
  const inputs = { workerId, workItemId, templateId, workspaceId: workspaceId ?? '' };
  const { id: run } = await queueRun({
    ...options,
    cwd,
    workflow: workflowOf(worker, template, item, cwd),
    source: EXECUTION,
    inputs,
    trust: options.trust === true,
    ...(earlier && { base: earlier }),
  });
  const id = `${repositoryId}:${run}`;
  return {
    id,
    repositoryId,
    run,
    workerId,
    workItemId,
    templateId,
    workspaceId: workspaceId ?? id,
    status: 'pending',
    createdAtMs: Date.now(),
  };
}

/** The commit that an earlier execution left. */
async function earlierIn(workspaceId: string, repositoryId: string): Promise<string> {
  const { facts, view } = await find(workspaceId);
  if (facts.repositoryId !== repositoryId)
    throw new BosunError('wrong-state', `workspace ${workspaceId} is of another repository`);
  if (facts.completedAtMs === undefined)
    throw new BosunError(
      'wrong-state',
      `workspace ${workspaceId} is still in use: wait until its execution has ended`,
    );
  return view.headCommit;
}

function workflowOf(worker: Worker, template: Template, item: WorkItem, directory: string): Workflow {
  const { runtime, model, command } = worker;
  const { check } = template;
  const text = { type: 'string' } as const;
  return workflowOfOne(
    EXECUTION,
    [
      EXECUTION,
      {
        agent: {
          ...(runtime !== undefined && { runtime }),
          ...(runtime === undefined && command !== undefined && { runtime: 'cli' as const }),
          ...(command !== undefined && { command }),
          ...(model !== undefined && { model }),
        },
        prompt: literally(`${template.prompt}\n\n${item.title}\n\n${item.text}`),
        ...(check !== undefined && { check }),
      },
    ],
    directory,
    { inputs: { workerId: text, workItemId: text, templateId: text, workspaceId: text } },
  );
}
