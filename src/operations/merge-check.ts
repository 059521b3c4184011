/** Runs the `merge.check` of a workflow on what would land: in a fence, on a throw-away copy, like a task's check. */
import type { Attempt } from '../attempt.ts';
import { BosunError } from '../contract/errors.ts';
import { Task } from '../contract/workflow.ts';
import { runAttempt } from '../engine.ts';
import type { State } from '../schedule/state.ts';
import { enterEngineRoom } from './engine-room.ts';
import { checkIsolation } from './isolation.ts';

/** No task has this name. */
const NAME = '(merge)';
const OUTPUT_BYTES_MAX = 10_000_000;

/** Throws where the check fails: then nothing must land. `printed` is given what it prints. */
export async function checkMerged(
  cwd: string,
  state: State,
  commit: string,
  printed: (text: string) => void,
): Promise<void> {
  const check = state.workflow.merge!.check;
  await using room = await enterEngineRoom(cwd);
  checkIsolation(room, state.workflow, state.source);
  let workspace: string | undefined;
  const attempt = attemptOn(state, check, commit, (fact) => {
    if (fact.type === 'attempt.workspace') workspace = fact.workspace;
    if (fact.type === 'attempt.output')
      printed(fact.text ?? Buffer.from(fact.base64 ?? '', 'base64').toString());
  });
  const { outcome } = await runAttempt(room.stages, attempt);
  if (workspace !== undefined) await room.stages.workspaces.remove(workspace);
  if (outcome.kind === 'done') return;
  const why = outcome.kind === 'failed' ? outcome.message : `the check \`${check}\` was ${outcome.kind}`;
  throw new BosunError(
    'check',
    `nothing was merged: on the merged files ${why}; see what would land with: bosun diff ${state.id}`,
  );
}

function attemptOn(state: State, check: string, commit: string, emit: Attempt['emit']): Attempt {
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
    task: Task.parse({ run: 'true', check }),
    workflow: state.workflow,
    agent: undefined,
    continues: undefined,
    shadow: commit,
    printed: { leftBytes: OUTPUT_BYTES_MAX },
    conflictFiles: [],
    stop: { graceful: new AbortController().signal, now: new AbortController().signal },
    granted: [],
    requestAccess: () => Promise.resolve({ granted: false, why: 'a check is granted nothing', globs: [] }),
    inbox: () => [],
    answerAccess: () => ({ accepted: false, why: 'a check owns nothing' }),
    admit: () => Promise.resolve({ isAdmitted: false, kind: 'refused', message: 'a check has no model' }),
    ask: () => Promise.resolve('no'),
    onSteer: () => () => {},
    emit,
    nowMs: Date.now,
  };
}
