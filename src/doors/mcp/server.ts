/**
 * What this door offers over the Model Context Protocol: tools and resources, the same in both eras of the protocol and
 * over every transport. It holds no logic: each tool performs operations of the table.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { fieldsOf, isFields } from '../../base/fields.ts';
import type { Actor } from '../../contract/actor.ts';
import { bounded, plainText } from './bounds.ts';
import { DIFF, PATCH_CHARS_MAX } from './diff-tool.ts';
import { messageOf } from './failures.ts';
import { offerResources } from './resources.ts';
import { inputSchemaOf, outputSchemaOf } from './schemas.ts';
import { asTask, knowsTasks, offerTasks, TASKS } from './tasks.ts';
import { MCP_TOOLS } from './tools.ts';
import type { AskPerson, ToolContext, Tool } from './tool.ts';

export interface McpServerOptions {
  /** In which repository. */
  cwd: string;
  version: string;
  /** Who asks, where the transport knows it; else the program that the client says it is. */
  by?: Actor;
  /** Offers only what changes nothing. */
  isReadOnly?: boolean;
  /** Why whoever asks may not decide about limits of all runs, whatever their person says. */
  whyNotShared?: string;
}

const INSTRUCTIONS = `bosun runs coding agents on this git repository: in parallel, each in a sandboxed workspace of its own, on a budget.
Start with engine_execute, follow with engine_status (waitSeconds 60), look at the work with engine_diff. A run goes on when this connection ends.
Nothing reaches the person's branch before engine_merge: call it only when they want that. Questions of a run are for the person: put them with engine_answer, never make up an answer.`;

const ONLY_A_PERSON = 'only a person may decide that, and this client cannot ask one';

/** A client need not read the names of tools again for so long: they change with this program alone. */
const LISTED_MS = 3_600_000;

export function createServer(options: McpServerOptions): McpServer {
  const { version } = options;
  const server = new McpServer(
    { name: 'bosun', title: 'bosun', version },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        extensions: { [TASKS]: {} },
      },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LISTED_MS }, 'server/discover': { ttlMs: LISTED_MS } },
    },
  );
  for (const tool of MCP_TOOLS)
    if (tool.kind === 'looks' || !options.isReadOnly) offerTool(server, tool, options);
  const asking = (context: ServerContext): ToolContext => askingFor(server, context, options);
  offerResources(server, asking);
  if (!options.isReadOnly) offerTasks(server, asking);
  return server;
}

function offerTool(server: McpServer, tool: Tool, options: McpServerOptions): void {
  const { name, title, about, kind } = tool;
  server.registerTool(
    name,
    {
      title,
      description: about,
      inputSchema: inputSchemaOf(tool.input),
      outputSchema: outputSchemaOf(tool.output),
      annotations: {
        title,
        readOnlyHint: kind === 'looks',
        ...(kind !== 'looks' && { destructiveHint: kind === 'lands' }),
        openWorldHint: false,
      },
    },
    async (input, context) => {
      const asking = askingFor(server, context, options);
      const result = await call(tool, input, asking);
      const isTask = tool.startsRun && knowsTasks(context) && result.isError !== true;
      if (!isTask) return result;
      // The run is there, whatever looking at it says.
      return asTask(result as CallToolResult, asking).catch(() => result);
    },
  );
}

async function call(
  tool: Tool,
  input: Record<string, unknown>,
  asking: ToolContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const given = await tool.act(input as never, asking);
    const structuredContent = bounded(given, CHARS_MAX[tool.name]) as Record<string, unknown>;
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    if (error instanceof AskThePerson) return error.asked;
    return { isError: true, content: [{ type: 'text', text: plainText(messageOf(error)) }] };
  }
}

/** A page of a patch is one text. */
const CHARS_MAX: Record<string, number> = { [DIFF.name]: PATCH_CHARS_MAX };

/** Thrown through a tool: the client asks its person, and calls the tool again with what they said. */
class AskThePerson extends Error {
  readonly asked: InputRequiredResult;

  constructor(asked: InputRequiredResult) {
    super('the person has to be asked');
    this.asked = asked;
  }
}

function askingFor(server: McpServer, context: ServerContext, options: McpServerOptions): ToolContext {
  const { cwd, by } = options;
  const { signal, _meta: meta } = context.mcpReq;
  const hasPerson = canAsk(server, context);
  const whyNotShared = options.whyNotShared ?? (hasPerson ? undefined : ONLY_A_PERSON);
  const token = meta?.progressToken;
  return {
    cwd,
    by: by ?? { kind: 'program', name: clientName(server, context) },
    signal,
    progress:
      token === undefined
        ? undefined
        : (progress, total, message) => {
            const params = { progressToken: token, progress, total, message };
            context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}); // it hung up
          },
    person: hasPerson ? personBehind(context) : undefined,
    ...(whyNotShared !== undefined && { whyNotShared }),
  };
}

/** As the client calls itself: each request says it, or the handshake did. */
function clientName(server: McpServer, { mcpReq }: ServerContext): string {
  const said = fieldsOf(fieldsOf(mcpReq.envelope)[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion());
  return typeof said.name === 'string' && said.name !== '' ? said.name : 'mcp';
}

function canAsk(server: McpServer, { mcpReq }: ServerContext): boolean {
  const said =
    fieldsOf(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
  const { elicitation } = fieldsOf(said);
  if (!isFields(elicitation)) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

function personBehind({ mcpReq }: ServerContext): AskPerson {
  return (key, { message, schema }) => {
    const said = inputResponse(mcpReq.inputResponses, key);
    if (said.kind === 'elicit') return said.action === 'accept' ? (said.content ?? {}) : null;
    const form = inputRequired.elicit({ message, requestedSchema: schema as never });
    throw new AskThePerson(inputRequired({ inputRequests: { [key]: form } }));
  };
}
