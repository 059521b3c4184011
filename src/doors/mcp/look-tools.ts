/** The tools that look: how runs stand, what they cost, which there were. */
import { z } from 'zod';
import { Budgets, ShownRuns, Status } from '../../contract/outputs.ts';
import { isOpen } from '../../contract/run.ts';
import { opt, text, texts } from '../../contract/schema-parts.ts';
import { budgetWarnings, nextSteps } from './told.ts';
import { askAs, fieldOf, type ToolContext, type Tool } from './tool.ts';

const RUN_ABOUT = 'the run, such as fix-3; the only one at work, else the latest, if not given';
const TASKS_SHOWN = 30;
const RUNS_SHOWN = 20;
const OUTPUTS_MAX = 20;
const SHOWN_MAX = 200;
/** Clients end a call that takes longer, or move it out of sight. */
const WAIT_SECONDS_MAX = 60;
/** As often a client that asked for it hears how far it is. */
const PROGRESS_MS = 5000;

export const STATUS: Tool = {
  name: 'engine_status',
  title: 'State of a run',
  about:
    'How a run stands: its tasks, what they cost, what its agents answered once it has ended, which questions wait for the person, warnings, and what to do next. With waitSeconds it answers when the run ends or needs the person, at the latest after that time: call it again then.',
  asks: ['status', 'wait', 'report'],
  input: {
    type: 'object',
    properties: {
      run: fieldOf('status', 'run', RUN_ABOUT),
      waitSeconds: {
        type: 'number',
        minimum: 0,
        maximum: WAIT_SECONDS_MAX,
        description: `wait so long at most for the run to end or to need the person; up to ${WAIT_SECONDS_MAX}`,
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: SHOWN_MAX,
        description: `how many tasks to show, those that need attention first; ${TASKS_SHOWN} if not given`,
      },
    },
  },
  output: Status.extend({
    /** What agents answered, once the run has ended: some of them where there are many, each cut where it is long. */
    outputs: opt(z.array(z.strictObject({ task: text, output: text }))),
    warnings: texts,
    next: texts,
  }),
  kind: 'looks',
  async act(
    {
      run: named,
      waitSeconds = 0,
      limit = TASKS_SHOWN,
    }: { run?: string; waitSeconds?: number; limit?: number },
    asking: ToolContext,
  ) {
    const input = { ...(named !== undefined && { run: named }), limit };
    const before = await askAs(asking, 'status', input);
    const { id } = before.run;
    if (waitSeconds > 0 && isOpen(before.run)) await waitFor(id, waitSeconds, asking);
    const { run, ...rest } = waitSeconds > 0 ? await askAs(asking, 'status', { ...input, run: id }) : before;
    const warnings = budgetWarnings(run.overruns);
    const outputs = isOpen(run) ? [] : await outputsOf(run.id, asking);
    const next = nextSteps(run, Date.now());
    return { run, ...rest, ...(outputs.length > 0 && { outputs }), warnings, next };
  },
};

/** Of agents; what commands printed is in the log. */
async function outputsOf(run: string, asking: ToolContext): Promise<{ task: string; output: string }[]> {
  const { tasks } = await askAs(asking, 'report', { run, written: true });
  const said = tasks.filter(
    ({ agent, state, output }) => agent !== null && state === 'done' && output !== null,
  );
  return said.slice(-OUTPUTS_MAX).map(({ label, output }) => ({
    task: label,
    output: typeof output === 'string' ? output : JSON.stringify(output),
  }));
}

/** Until it ends or a person is needed; whoever asked hears meanwhile that it goes on. */
async function waitFor(run: string, seconds: number, asking: ToolContext): Promise<void> {
  const enough = new AbortController();
  const signal = AbortSignal.any([asking.signal, enough.signal, AbortSignal.timeout(seconds * 1000)]);
  const startedMs = Date.now();
  const { progress } = asking;
  const tell = async (): Promise<void> => {
    const { run: now, taskCount } = await askAs(asking, 'status', { run, limit: 1 });
    const { done = 0, failed = 0, skipped = 0, running = 0 } = now.counts;
    const words = `${done + failed + skipped} of ${taskCount} tasks ended, ${running} at work`;
    progress?.((Date.now() - startedMs) / 1000, seconds, words);
  };
  const tellQuietly = (): void => void tell().catch(() => {});
  if (progress) tellQuietly(); // so that nobody takes it for dead
  const timer = progress && setInterval(tellQuietly, PROGRESS_MS);
  try {
    await askAs(asking, 'wait', { runs: [run] }, { signal, needsPerson: () => enough.abort() });
  } catch (error) {
    asking.signal.throwIfAborted();
    // Its engine is gone: that is how it stands, and no failure of whoever looks.
    if (!signal.aborted && (error as { code?: string }).code !== 'wrong-state') throw error;
  } finally {
    clearInterval(timer);
  }
}

export const BUDGET: Tool = {
  name: 'engine_budget',
  title: 'Cost and budgets of a run',
  about:
    'What a run has spent and may spend: the whole run, its agents and tasks, and what all runs of this user may spend in a day or a month. It lists the limits that the run went past. To raise a limit is for the person: bosun budget <run> --usd <amount>.',
  asks: ['budget'],
  input: { type: 'object', properties: { run: fieldOf('budget', 'run', RUN_ABOUT) } },
  output: Budgets.extend({ warnings: texts }),
  kind: 'looks',
  async act(input: { run?: string }, asking: ToolContext) {
    const budgets = await askAs(asking, 'budget', input);
    return { ...budgets, warnings: budgetWarnings(budgets.overruns) };
  },
};

export const HISTORY: Tool = {
  name: 'engine_history',
  title: 'Runs of this repository',
  about: 'The runs of this repository, the newest first: how each ended, and what it cost.',
  asks: ['history'],
  input: {
    type: 'object',
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: SHOWN_MAX,
        description: `how many; ${RUNS_SHOWN} if not given`,
      },
    },
  },
  output: z.strictObject({ runs: ShownRuns }),
  kind: 'looks',
  async act({ limit = RUNS_SHOWN }: { limit?: number }, asking: ToolContext) {
    return { runs: await askAs(asking, 'history', { limit }) };
  },
};
