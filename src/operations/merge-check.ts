/** Runs the `merge.check` of a workflow on what would land: in a fence, on a throw-away copy, like a task's check. */
import type { Attempt } from '../attempt/attempt.ts';
import { BosunError } from '../contract/errors.ts';
import { Task } from '../contract/workflow.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import type { State } from '../schedule/state.ts';
import { openEngine } from '../run/open-engine.ts';
import { checkIsolation } from '../run/isolation.ts';
import { checkTrust, type TrustOptions } from './trust.ts';

/** No task has this name. */
const NAME = '(merge)';
const OUTPUT_BYTES_MAX = 10_000_000;
/** Of the end of it, for who could not see it come. */
const OUTPUT_KEPT_CHARS = 16_000;
/** It holds up every other merge and run. */
const HOURS_MAX = 1;

interface CheckOptions extends TrustOptions {
  /** A person's wish to do without fences. */
  unfenced?: boolean;
  signal?: AbortSignal;
}

/** Throws where the check fails: then nothing must land. `printed` is given what it prints. */
export async function checkMerged(
  cwd: string,
  state: State,
  commit: string,
  printed: (text: string) => void,
  options: CheckOptions,
): Promise<void> {
  const check = state.workflow.merge!.check;
  await using engine = await openEngine(cwd, { unfenced: options.unfenced ?? false });
  const { workflow, source } = state;
  checkIsolation(engine, workflow, source);
  checkTrust({ ...options, cwd, workflow, source, top: engine.repository.top, kind: engine.sandbox.kind });
  let workspace: string | undefined;
  let output = '';
  const attempt = attemptOn(state, check, commit, options.signal, (fact) => {
    if (fact.type === 'attempt.workspace') workspace = fact.workspace;
    if (fact.type !== 'attempt.output') return;
    const text = fact.text ?? Buffer.from(fact.base64 ?? '', 'base64').toString();
    output = (output + text).slice(-OUTPUT_KEPT_CHARS);
    printed(text);
  });
  const { outcome } = await runAttempt(engine.stages, attempt);
  if (workspace !== undefined) await engine.stages.workspaces.remove(workspace);
  options.signal?.throwIfAborted();
  if (outcome.kind === 'done') return;
  const why = outcome.kind === 'failed' ? outcome.message : `the check \`${check}\` was ${outcome.kind}`;
  throw new BosunError(
    'check',
    `nothing was merged: on the merged files ${why}; see what would land with: bosun diff ${state.id}`,
    { data: { output } },
  );
}

function attemptOn(
  state: State,
  check: string,
  commit: string,
  signal: AbortSignal | undefined,
  emit: Attempt['emit'],
): Attempt {
  // The check has its own time; this is for what comes before it.
  const late = AbortSignal.timeout(2 * HOURS_MAX * 3_600_000);
  const end = signal ? AbortSignal.any([signal, late]) : late;
  return {
    run: state.id,
    start: {
      type: 'attempt.started',
      task: NAME,
      attempt: process.pid,
      purpose: 'work',
      from: [commit],
      prompt: 'true',
    },
    task: Task.parse({ run: 'true', timeout: `${HOURS_MAX}h` }),
    workflow: state.workflow,
    agent: undefined,
    continues: undefined,
    shadow: commit,
    printed: { leftBytes: OUTPUT_BYTES_MAX },
    conflictFiles: [],
    mayReject: false,
    checks: [{ text: check, command: check }],
    globsOfPeople: [],
    stop: { graceful: end, now: end },
    granted: [],
    published: undefined,
    crew: undefined,
    services: undefined,
    admit: () => Promise.resolve({ isAdmitted: false, kind: 'refused', message: 'a check has no model' }),
    ask: () => Promise.resolve({ answer: 'no', by: 'ended' }),
    onSteer: () => () => {},
    given: undefined,
    give: () => Promise.resolve(),
    emit,
    nowMs: Date.now,
  };
}
