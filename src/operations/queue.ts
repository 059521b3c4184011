/** Runs that are left to the next engine that looks: checked and in the journal at once, driven later. It drives nothing. */
import { createHash } from 'node:crypto';
import type { Asked, OutputOf } from '../contract/operations.ts';
import { resolveInputs } from '../definition/inputs.ts';
import { RunQueue, type RunToQueue, type RunQueues } from '../run/run-queue.ts';
import type { Once } from '../store/store.ts';
import { execWorkflow } from './exec.ts';
import { sealTrust } from './queued-trust.ts';
import { checkTrust, isTrusted, type TrustOptions } from './trust.ts';

export type QueueOptions<Name extends 'queue' | 'queueExec'> = Asked<Name> & {
  /** The queues that the program has open; without, one is opened for this run alone. */
  queues?: RunQueues;
};

/** Resolves once the run is in the journal, and what it starts from is kept. */
export async function queueRun(
  options: QueueOptions<'queue'> & Pick<RunToQueue, 'parent'> & { base?: string },
): Promise<OutputOf<'queue'>> {
  const { cwd, source, usd, dirty = false, by, parent, base } = options;
  const budget = { ...options.workflow.budget, ...(usd !== undefined && { usd }) };
  const workflow = { ...options.workflow, ...(usd !== undefined && { budget }) };
  const inputs = resolveInputs(workflow, options.inputs ?? {});
  await using own = options.queues ? undefined : new RunQueue(cwd);
  const queue = own ?? options.queues!.at(cwd);
  const { top } = await queue.repository();
  // What this machine lacks is asked about where it is driven.
  checkTrust({ ...options, workflow, top, kind: 'fences' });
  const trusted = (id: string): string => sealTrust(cwd, { id, workflow, inputs });
  const once = onceOf(options, { workflow, source, inputs, dirty });
  const run = {
    workflow,
    source,
    inputs,
    dirty,
    queued: { by },
    ...(isTrusted(options) && { trusted }),
    ...(parent && { parent }),
    ...(once && { once }),
  };
  return await queue.add(run, base);
}

/** One agent with a prompt, or one command, with no workflow file. */
export async function queueExec(
  options: QueueOptions<'queueExec'> & TrustOptions,
): Promise<OutputOf<'queueExec'>> {
  const { task, ...made } = execWorkflow(options);
  return { ...(await queueRun({ ...options, ...made })), task };
}

function onceOf(
  { key, fingerprint }: { key?: string; fingerprint?: string },
  asked: object,
): Once | undefined {
  if (key === undefined) return undefined;
  return { key, hash: fingerprint ?? createHash('sha256').update(JSON.stringify(asked)).digest('hex') };
}
