/**
 * Runs an installed agent against a scripted model and says what it can do, as a table. Every check is a real run in
 * a scratch repository, with a time-out. What fails is a row, never an exception.
 */
import { ownVersion } from '../../base/version.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Reading } from '../../contract/operations.ts';
import { runtimeHint } from '../../definition/check/runtime-hint.ts';
import { MODEL_RUNTIMES, takesCommand } from '../../contract/runtimes.ts';
import type { Agent, RuntimeName } from '../../contract/workflow.ts';
import {
  agentVersion,
  findAgent,
  findCommand,
  needAgent,
  packageVersion,
} from '../../runtime/agent/find-agent.ts';
import { knownAgent } from '../../runtime/acp/known-agent.ts';
import type { RuntimeDescriptor } from '../../runtime/descriptor.ts';
import { RUNTIMES_BY_NAME } from '../../runtime/runtimes.ts';
import { Bench } from './bench.ts';
import { verdict, type ConformanceCheck } from './check.ts';
import { CONTROL_CHECKS } from './check-control.ts';
import { FAULT_CHECKS } from './check-faults.ts';
import { WORK_CHECKS } from './check-work.ts';
import { seconds } from './trial.ts';
import {
  MUST,
  ROWS,
  type ConformanceReport,
  type VerdictRow,
  type RowName,
  type Verdict,
} from './verdict.ts';

const CHECKS: ConformanceCheck[] = [...WORK_CHECKS, ...CONTROL_CHECKS, ...FAULT_CHECKS];
/** Long, for a machine that has other things to do: what hangs does so for ever. */
const TIMEOUT_MS = 120_000;
/** After that no other check is begun. */
const TOTAL_MS_MAX = 15 * 60_000;

/** The signal ends what runs and leaves out the rest. */
export type ConformanceOptions = Omit<Reading<'conformance'>, 'cwd'> & {
  /** Of each run. */
  timeoutMs?: number;
  totalMs?: number;
  /** Is told of each row as soon as it is known. */
  onRow?(row: VerdictRow): void;
};

export async function testConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { command, timeoutMs = TIMEOUT_MS, totalMs = TOTAL_MS_MAX, signal } = options;
  const runtime = runtimeOf(options);
  const only = options.only === undefined ? undefined : new Set(options.only.map(rowOf));
  const version = await versionOf(runtime, command);
  const behind = knownAgent(command)?.behind ?? RUNTIMES_BY_NAME[runtime];
  const agent: Partial<Agent> = {
    runtime,
    ...(command !== undefined && { command }),
  };
  const beganMs = performance.now();
  await using bench = await Bench.make(agent, timeoutMs, signal);
  const rows: VerdictRow[] = [];
  const add = (found: Verdict): void => {
    if (only && !only.has(found.row)) return;
    const row = { ...found, about: ROWS[found.row], must: MUST.has(found.row) };
    rows.push(row);
    options.onRow?.(row);
  };
  for (const check of CHECKS) {
    if (only && !check.rows.some((row) => only.has(row))) continue;
    const isLate = performance.now() - beganMs > totalMs;
    const found = isLate || signal?.aborted ? undefined : await results(check, bench, behind);
    // What was cut short says nothing.
    (signal?.aborted || !found ? untried(check) : found).forEach(add);
  }
  add(ending(bench));
  const order = Object.keys(ROWS);
  return {
    runtime,
    ...(command !== undefined && { command }),
    ...(version !== undefined && { version }),
    bosun: ownVersion(),
    platform: `${process.platform} ${process.arch}`,
    date: new Date().toISOString().slice(0, 10),
    tookMs: Math.round(performance.now() - beganMs),
    isolation: bench.isolation,
    rows: rows.toSorted((a, b) => order.indexOf(a.row) - order.indexOf(b.row)),
  };
}

async function results(
  check: ConformanceCheck,
  bench: Bench,
  runtime: RuntimeDescriptor,
): Promise<Verdict[]> {
  const why = check.cannot?.(runtime);
  if (why !== undefined) return check.rows.map((row) => verdict(row, 'cannot', why));
  try {
    return await check.run(bench);
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    return check.rows.map((row) => verdict(row, 'no', error.message));
  }
}

function untried({ rows }: ConformanceCheck): Verdict[] {
  return rows.map((row) => verdict(row, 'untried', 'not tried to the end'));
}

/** Said of all runs together. */
function ending({ endedMs, hungCount }: Bench): Verdict {
  const all = endedMs.length + hungCount;
  if (hungCount > 0) return verdict('ends', 'no', `${hungCount} of ${all} runs had to be ended`);
  return verdict('ends', 'yes', `${all} runs, the longest ${seconds(Math.max(0, ...endedMs))}`);
}

function runtimeOf({ runtime, command }: ConformanceOptions): RuntimeName {
  const name = MODEL_RUNTIMES.find((each) => each === runtime);
  if (name === undefined) {
    const why =
      runtime === 'cli'
        ? 'the runtime cli asks no model through bosun, so that there is nothing to try'
        : `there is no runtime "${runtime}"${runtimeHint(runtime, MODEL_RUNTIMES)}`;
    throw new BosunError('usage', `${why}; give one of ${MODEL_RUNTIMES.join(', ')}`);
  }
  if (takesCommand(name) && command === undefined)
    throw new BosunError(
      'usage',
      `the runtime ${name} stands for any agent: add --command, such as "gemini --acp"`,
    );
  if (!takesCommand(name) && command !== undefined)
    throw new BosunError('usage', `only the runtime acp takes a command; ${name} is found on the PATH`);
  return name;
}

function rowOf(name: string): RowName {
  if (Object.hasOwn(ROWS, name)) return name as RowName;
  throw new BosunError('usage', `there is no check "${name}"; there are ${Object.keys(ROWS).join(', ')}`);
}

/** Throws where there is no such agent: a table of failures would say less. */
async function versionOf(runtime: RuntimeName, command: string | undefined): Promise<string | undefined> {
  const { program, sdk } = RUNTIMES_BY_NAME[runtime];
  if (program && sdk) {
    const found = findAgent({ program });
    const lies = sdk.find();
    const own = found && (await agentVersion(found));
    const packaged = lies && packageVersion(lies);
    return [own, packaged && `SDK ${packaged}`].filter(Boolean).join(', ') || undefined;
  }
  if (program) return agentVersion(needAgent({ name: runtime, program }));
  const found = findCommand(command!.trim().split(/\s+/).slice(0, 1));
  return found && agentVersion(found);
}
