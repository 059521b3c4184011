/** The workflow of an agent that is started on its own, and what it is told of the task that it goes on from. It starts nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Asked } from '../contract/operations.ts';
import type { RunView } from '../contract/run.ts';
import { RUNTIMES } from '../contract/runtimes.ts';
import type { Workflow, WorkflowSource } from '../contract/workflow.ts';
import type { Node, State } from '../schedule/state.ts';
import { agentOf } from '../schedule/workflow/agent-of.ts';
import { readOutput } from './output.ts';
import { literally, workflowOfOne } from './workflow-of-one.ts';

/** As much as a prompt gets from another task. */
const SAID_CHARS_MAX = 32_000;
const TASK = 'agent';

interface From {
  run: RunView;
  state: State;
  parent: Node;
  said: string;
}

type Options = Asked<'spawnAgent'>;

export function spawnedWorkflow(
  options: Options,
  from: From | undefined,
): { workflow: Workflow; task: string } {
  const { prompt, write, check, usd, tokens, cwd } = options;
  const { agents, agent } = whoOf(options, from);
  const budget = { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }) };
  const isRequired = from && isolationIsRequired(from.state.workflow);
  const made = workflowOfOne(
    'exec',
    [
      TASK,
      {
        agent,
        prompt: literally(from ? `${prompt}\n\n${contextOf(from)}` : prompt),
        ...(write && { scope: { write: [...write] } }),
        ...(check !== undefined && { check }),
      },
    ],
    cwd,
    {
      ...(isRequired && { isolation: 'required' }),
      ...(agents && { agents }),
      ...(Object.keys(budget).length > 0 && { budget }),
    },
  );
  return { workflow: made, task: TASK };
}

/** Also by a workflow that it uses: what comes of its work is held as that was. */
function isolationIsRequired({ isolation, nested = {} }: Workflow): boolean {
  return isolation === 'required' || Object.values(nested).some(isolationIsRequired);
}

/** An agent of the parent's workflow, or of a file, or a runtime; else the same kind as the parent. */
function whoOf(
  { role, runtime, model }: Options,
  from: From | undefined,
): Pick<WorkflowSource, 'agents'> & { agent: NonNullable<WorkflowSource['tasks'][string]['agent']> } {
  const known = role === undefined ? undefined : from?.state.workflow.agents[role];
  if (role !== undefined && (runtime ?? model) !== undefined)
    throw new BosunError('usage', 'name an agent as its role, or a runtime and a model, but not both');
  if (known) return { agents: { [role!]: known }, agent: role! };
  const named = runtime ?? RUNTIMES.find((each) => each === role);
  if (role !== undefined && named === undefined) return { agent: role };
  const own = from && agentOf(from.parent, 'work')?.agent;
  if (named === undefined && model === undefined && own) return { agent: own };
  if (named !== undefined || model !== undefined)
    return {
      agent: { ...(named !== undefined && { runtime: named }), ...(model !== undefined && { model }) },
    };
  throw new BosunError('usage', 'say which agent it is: the role of one (.bosun/agents), or a runtime');
}

/** What the parent's task gave, as text. */
export async function lastOf(
  { cwd }: Options,
  { run, parent }: { run: RunView; parent: Node },
): Promise<string> {
  const { output = '' } = await readOutput({ cwd, run: run.id, task: parent.id });
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

function contextOf({ run, parent, said }: From): string {
  const intro = `You go on from task ${parent.label} of run ${run.id}: the files that you have are as it left them.`;
  const text = said.trim();
  if (text === '') return intro;
  const left = text.length - SAID_CHARS_MAX;
  const rest = left > 0 ? `\n[… ${left} more characters]` : '';
  return `${intro} It said:\n\n${text.slice(0, SAID_CHARS_MAX)}${rest}`;
}
