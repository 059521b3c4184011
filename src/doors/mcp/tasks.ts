/**
 * A run as a task of the protocol's extension, for clients that know it: started by a call, asked for until it has
 * ended, answered, cancelled. A task's id is the run's, so there is nothing to keep.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { fieldsOf } from '../../base/fields.ts';
import type { InputSchema } from '../../contract/input-schema.ts';
import { NAME } from '../../contract/operation.ts';
import type { ShownRun } from '../../contract/outputs.ts';
import { isOpen } from '../../contract/run.ts';
import { bounded, plainText } from './bounds.ts';
import { messageOf } from './failures.ts';
import { wordOf } from './decide-tools.ts';
import { personForm, saidIn } from './person-form.ts';
import { inputSchemaOf } from './schemas.ts';
import { nextSteps } from './told.ts';
import { askAs, type ToolContext } from './tool.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';

const POLL_MS = 2000;
const ANSWERS_MAX = 50;
const TASK: InputSchema = { type: 'object', properties: { taskId: NAME }, required: ['taskId'] };
const ANSWERS: InputSchema = {
  type: 'object',
  properties: { taskId: NAME, inputResponses: { type: 'object' } },
  required: ['taskId'],
};

export function knowsTasks({ mcpReq }: ServerContext): boolean {
  const capabilities = fieldsOf(fieldsOf(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return fieldsOf(capabilities.extensions)[TASKS] !== undefined;
}

/** What a call that has started a run gives, in place of the call's own end; that stays there for who reads it. */
export async function asTask(result: CallToolResult, asking: ToolContext): Promise<CallToolResult> {
  const run = String(fieldsOf(result.structuredContent).run);
  const { run: view } = await askAs(asking, 'status', { run, limit: 1 });
  return { ...result, resultType: 'task', ...taskOf(view, 'working') };
}

export function offerTasks(server: McpServer, askingFor: (context: ServerContext) => ToolContext): void {
  const method = (
    name: string,
    params: InputSchema,
    act: (input: Record<string, unknown>, asking: ToolContext) => Promise<object>,
  ): void =>
    server.server.setRequestHandler(name, { params: inputSchemaOf(params) }, async (input, context) => {
      if (!knowsTasks(context)) throw undeclared(name, context);
      try {
        // Answers were taken out of the parameters on their way here.
        const { inputResponses } = context.mcpReq;
        const all = { ...input, ...(inputResponses && { inputResponses }) };
        return (await act(all, askingFor(context))) as Record<string, unknown>;
      } catch (error) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, plainText(messageOf(error)));
      }
    });
  method('tasks/get', TASK, ({ taskId }, asking) => look(String(taskId), asking));
  method('tasks/cancel', TASK, async ({ taskId }, asking) => {
    // It is on its way: the client sees it end.
    const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(POLL_MS)]);
    await askAs(asking, 'cancel', { run: String(taskId) }, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    return {};
  });
  method('tasks/update', ANSWERS, async ({ taskId, inputResponses }, asking) => {
    const answers = Object.entries(fieldsOf(inputResponses)).slice(0, ANSWERS_MAX);
    for (const [question, response] of answers) {
      const { action, content } = fieldsOf(response);
      const said = action === 'accept' ? saidIn(fieldsOf(content)) : null;
      if (said) await askAs(asking, 'answer', { run: String(taskId), question, ...said }, wordOf(asking));
    }
    return {};
  });
}

/** With a handshake there are no such tasks; without one, a client has to say with each request that it knows them. */
function undeclared(name: string, { mcpReq }: ServerContext): ProtocolError {
  if (mcpReq.envelope === undefined)
    return new ProtocolError(ProtocolErrorCode.MethodNotFound, `${name} is not a method of this revision`);
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
}

async function look(id: string, asking: ToolContext): Promise<object> {
  const { run } = await askAs(asking, 'status', { run: id, limit: 1 });
  if (run.state === 'cancelled') return taskOf(run, 'cancelled');
  if (!isOpen(run)) return { ...taskOf(run, 'completed'), result: endOf(run) };
  const { questions } = run;
  if (questions.length === 0 || !asking.person) return taskOf(run, 'working');
  const forms = questions.map((question) => {
    const { message, schema } = personForm(question, run.id);
    return [question.id, inputRequired.elicit({ message, requestedSchema: schema as never })];
  });
  return { ...taskOf(run, 'input_required'), inputRequests: Object.fromEntries(forms) as object };
}

function taskOf(run: ShownRun, status: string): object {
  const { id, createdAtMs, endedAtMs, state } = run;
  const [first] = nextSteps(run, Date.now());
  return {
    taskId: id,
    status,
    statusMessage: plainText(`run ${id} is ${state}${first === undefined ? '' : `; ${first}`}`),
    createdAt: new Date(createdAtMs).toISOString(),
    lastUpdatedAt: new Date(endedAtMs ?? Date.now()).toISOString(),
    ttlMs: null, // runs are kept until somebody prunes them
    pollIntervalMs: POLL_MS,
  };
}

/** What the call would have given, had it waited. */
function endOf(run: ShownRun): CallToolResult {
  const { id, state } = run;
  const given = bounded({ run: id, isRepeated: false, notes: [], state, next: nextSteps(run, Date.now()) });
  return {
    content: [{ type: 'text', text: JSON.stringify(given) }],
    structuredContent: given,
    ...(state !== 'done' && { isError: true }),
  };
}
