/**
 * Our side of the benches, through the library as a program would use it. Run as a program of its own it
 * measures one shape the way each peer under peers/ does: `node bench/bosun.ts chain|fan-out COUNT`.
 */
import { Bosun, workflow, type WorkflowSource } from '../src/index.ts';
import { makeRepository } from './repository.ts';
import { removeScratch } from './scratch.ts';

export const CONCURRENCY = 8;

interface Taken {
  /** From handing over the workflow until its end: the repository looked at, the journal opened, the report written. */
  wallMs: number;
  /** From the first event in the journal to the last: what the libraries do that only schedule and record. */
  scheduledMs: number;
}

export async function runWorkflow(
  repo: string,
  source: WorkflowSource,
  { unfenced = false } = {},
): Promise<Taken> {
  const checked = workflow(source);
  let [createdMs, finishedMs] = [0, 0];
  const start = performance.now();
  const run = await new Bosun(repo).run(checked, {
    unfenced,
    seen(events) {
      for (const { event } of events) {
        if (event.type === 'run.created') createdMs = performance.now();
        if (event.type === 'run.finished') finishedMs = performance.now();
      }
    },
  });
  const { state } = await run.finished;
  const wallMs = performance.now() - start;
  if (state !== 'done') throw new Error(`run ${run.id} in ${repo} is ${state}`);
  return { wallMs, scheduledMs: finishedMs - createdMs };
}

type Task = WorkflowSource['tasks'][string];
type Shape = keyof typeof SHAPES;

/** Each takes a count and gives as many tasks that run `true`. */
const SHAPES = {
  /** One after the other. */
  chain: (count) =>
    named(count, (index) => ({ run: 'true', ...(index > 0 && { needs: [`task-${index - 1}`] }) })),
  /** One task over a list. */
  'fan-out': (count) => ({
    task: { run: 'true', 'for-each': Array.from({ length: count }, (_, index) => index) },
  }),
  /** Each written out. */
  apart: (count) => named(count, () => ({ run: 'true' })),
} satisfies Record<string, (count: number) => Record<string, Task>>;

function named(count: number, task: (index: number) => Task): Record<string, Task> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`task-${index}`, task(index)]));
}

export function workflowOf(shape: Shape, count: number, extra: Partial<WorkflowSource> = {}): WorkflowSource {
  return { name: shape, concurrency: CONCURRENCY, ...extra, tasks: SHAPES[shape](count) };
}

async function main(shape: Shape, count: number): Promise<void> {
  const repo = await makeRepository(1);
  // What the peers start has pipes where it is our own fenced line.
  const { pipes } = JSON.parse(process.env.BENCH_STEP ?? '{ "pipes": true }') as { pipes: boolean };
  const options = { unfenced: !pipes };
  await runWorkflow(repo, workflowOf(shape, 10, { workspace: 'none' }), options);
  const { scheduledMs } = await runWorkflow(repo, workflowOf(shape, count, { workspace: 'none' }), options);
  process.stdout.write(`${JSON.stringify({ shape, count, wallMs: scheduledMs })}\n`);
  removeScratch();
}

if (import.meta.main) await main(process.argv[2] as Shape, Number(process.argv[3]));
