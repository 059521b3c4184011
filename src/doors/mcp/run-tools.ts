/** The tools that start a run, and that speak to one which another process drives. */
import { z } from 'zod';
import { ACTIONS, type Action } from './actions.ts';
import { Started } from '../../contract/mcp-outputs.ts';
import { opt, shownRunState, text, texts } from '../../contract/schema-parts.ts';
import { askAs, fieldOf, type ToolContext, type Tool } from './tool.ts';
import type { InputOf } from '../../contract/operations.ts';

const RUN_ABOUT = 'the run, such as fix-3; the only one at work, else the latest, if not given';
/** A cancel that takes longer goes on by itself. */
const CANCEL_MS_MAX = 50_000;

export const EXECUTE: Tool = {
  name: 'engine_execute',
  title: 'Start a run',
  about:
    'Start coding agents on this repository, each in a sandboxed workspace of its own, and get the id of the run at once. Give one of: file (a workflow file), workflow (the same as an object), prompt (one agent). With none of them it runs the bosun.yaml of the repository. The run goes on by itself, also when this connection ends: follow it with engine_status. Nothing reaches the current branch before engine_merge. Pass a key of your own, so that asking again after a broken connection starts nothing twice.',
  asks: ['start'],
  input: {
    type: 'object',
    properties: {
      file: fieldOf('start', 'file', 'a workflow file, such as release.yaml'),
      workflow: fieldOf(
        'start',
        'workflow',
        'a workflow as an object: name, agents, tasks (each with agent and prompt, or run, and needs), budget',
      ),
      inputs: fieldOf('start', 'inputs', 'values for the inputs that the workflow declares'),
      prompt: fieldOf('start', 'prompt', 'what one agent is to do'),
      runtime: fieldOf('start', 'runtime', 'with prompt: the program behind the agent'),
      command: fieldOf('start', 'command', 'with prompt, for cli and acp: the command that starts the agent'),
      model: fieldOf('start', 'model', 'with prompt: the model, such as claude-sonnet-4-5'),
      check: fieldOf('start', 'check', 'with prompt: a command that must pass, such as npm test'),
      attempts: fieldOf(
        'start',
        'attempts',
        'with prompt: how many times the agent may try to pass the check',
      ),
      timeout: fieldOf('start', 'timeout', 'with prompt: how long it may take, such as 10m'),
      dirty: fieldOf('start', 'dirty', 'start from the files as they are, not from the last commit'),
      usd: fieldOf(
        'start',
        'usd',
        'budget of the run in dollars; past it the run warns and goes on, unless the workflow says enforce: hard',
      ),
      key: fieldOf('start', 'key', 'any text of your own: the same call with the same key starts one run'),
    },
  },
  output: Started.extend({
    /** How it has ended: only of a task that is done. */
    state: opt(shownRunState),
    next: texts,
  }),
  kind: 'acts',
  startsRun: true,
  async act(input: InputOf<'start'>, asking: ToolContext) {
    // Trust is a person's to give, whatever the environment of this process says; and there is nobody to ask for money.
    const started = await askAs(asking, 'start', { ...input, trust: false, overBudget: 'warn' });
    return { ...started, next: [`call engine_status with run ${started.run} and waitSeconds 60`] };
  },
};

interface Interrupt {
  action: Action;
  run?: string;
  task?: string;
  text?: string;
  now?: boolean;
}

export const INTERRUPT: Tool = {
  name: 'engine_interrupt',
  title: 'Pause, resume, cancel or steer a run',
  about:
    'pause: nothing new starts and no model is asked, until resume. resume: continue what was paused, interrupted, cancelled or failed; finished tasks are not run again. cancel: stop; finished work is kept. steer: say something to the agent of a task that is at work (needs task and text).',
  asks: ['pause', 'unpause', 'start', 'cancel', 'steer', 'status'],
  input: {
    type: 'object',
    properties: {
      action: { type: 'string', maxLength: 20, enum: ACTIONS, description: 'what to do' },
      run: fieldOf('cancel', 'run', RUN_ABOUT),
      task: fieldOf('steer', 'task', 'only this task; for pause, resume and steer'),
      text: fieldOf('steer', 'text', 'for steer: what to say to the agent'),
      now: fieldOf('cancel', 'now', 'for cancel: do not wait for agents to stop by themselves'),
    },
    required: ['action'],
  },
  output: z.strictObject({
    run: text,
    action: z.enum(ACTIONS),
    task: opt(text),
    /** How the run stands now. */
    state: shownRunState,
    notes: texts,
  }),
  kind: 'acts',
  async act({ action, ...input }: Interrupt, asking: ToolContext) {
    const { run, notes } = await interrupt(action, input, asking);
    const { run: now } = await askAs(asking, 'status', { run, limit: 1 });
    const { task } = input;
    return { run, action, ...(task !== undefined && { task }), state: now.state, notes };
  },
};

async function interrupt(
  action: Action,
  { run, task, text: said = '', now = false }: Omit<Interrupt, 'action'>,
  asking: ToolContext,
): Promise<{ run: string; notes: string[] }> {
  const named = run === undefined ? {} : { run };
  const target = { ...named, ...(task !== undefined && { name: task }) };
  switch (action) {
    case 'pause': {
      const paused = await askAs(asking, 'pause', target);
      const already = paused.isAlready ? ['it was paused before'] : [];
      return {
        run: paused.run,
        notes: [...already, ...paused.attempts.map((each) => `${each.task}: ${each.because}`)],
      };
    }
    case 'resume': {
      const unpaused = await askAs(asking, 'unpause', target);
      if (unpaused.isContinued || task !== undefined)
        return { run: unpaused.run, notes: stillPaused(unpaused) };
      // Nobody drives it, or it has ended: it needs an engine again.
      const { run: id, notes } = await askAs(asking, 'start', { resume: unpaused.run, trust: false });
      return { run: id, notes };
    }
    case 'cancel':
      return cancel(named, now, asking);
    default: {
      const steered = await askAs(asking, 'steer', { ...named, task: task as string, text: said });
      return { run: steered.run, notes: [] };
    }
  }
}

function stillPaused({
  isStillPaused,
  pausedWith,
}: {
  isStillPaused: boolean;
  pausedWith?: string;
}): string[] {
  return isStillPaused ? [`${pausedWith ?? 'the whole run'} is still paused, and this task with it`] : [];
}

async function cancel(
  named: { run?: string },
  now: boolean,
  asking: ToolContext,
): Promise<{ run: string; notes: string[] }> {
  const { run } = await askAs(asking, 'status', { ...named, limit: 1 });
  const late = AbortSignal.timeout(CANCEL_MS_MAX);
  const signal = AbortSignal.any([asking.signal, late]);
  try {
    await askAs(asking, 'cancel', { run: run.id, now }, { signal });
    return { run: run.id, notes: [] };
  } catch (error) {
    if (!late.aborted) throw error;
    return { run: run.id, notes: ['it takes its time to stop: look again with engine_status'] };
  }
}
