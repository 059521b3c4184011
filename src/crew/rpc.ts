/** Reads one JSON-RPC 2.0 request of an agent. What the table of tools does not allow, it refuses with the protocol's own codes. */
import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { ERRORS } from '../contract/errors.ts';
import { rowOf, schemaOfInput, TOOL_NAMES, CREW_TOOLS, type ToolName } from './tools.ts';

/** Why a request is not answered; goes back as it is. */
export class RpcError extends Error {
  readonly code: number;
  readonly id: RpcRequest['id'] | undefined;

  constructor(code: number, message: string, id?: RpcRequest['id']) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

const Id = z.union([z.string().max(200), z.number(), z.null()]);
const Envelope = z.object({
  jsonrpc: z.literal('2.0'),
  id: Id,
  method: z.string(),
  params: z.unknown().optional(),
});

/** Made of the table at the first call of each: most attempts call none. */
const schemas = new Map<ToolName, z.ZodType>();

export interface RpcRequest {
  id: string | number | null;
  method: ToolName;
  /** As the table says that it is. */
  params: unknown;
}

export function readRequest(line: string): RpcRequest {
  const message = parseJson(line);
  if (message === undefined) throw new RpcError(-32700, 'the message is not JSON');
  const envelope = Envelope.safeParse(message);
  if (!envelope.success) {
    throw new RpcError(-32600, 'the message is not a JSON-RPC 2.0 request with an id');
  }
  const { id, method, params = {} } = envelope.data;
  if (!isTool(method)) {
    const names = TOOL_NAMES.join(', ');
    throw new RpcError(-32601, `there is no method "${method.slice(0, 100)}"; there are ${names}`, id);
  }
  const read = schemaOf(method).safeParse(params);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = ['params', ...(issue?.path ?? [])].join('.');
    throw new RpcError(ERRORS.usage.rpc, `${where} of ${method}: ${issue && problemOf(issue, method)}`, id);
  }
  return { id, method, params: read.data };
}

function isTool(method: string): method is ToolName {
  return Object.hasOwn(CREW_TOOLS, method);
}

function schemaOf(name: ToolName): z.ZodType {
  const schema =
    schemas.get(name) ?? z.fromJSONSchema(schemaOfInput(name) as unknown as z.core.JSONSchema.JSONSchema);
  schemas.set(name, schema);
  return schema;
}

/** A model has to know what the limit is, and which fields there are. */
function problemOf(issue: z.core.$ZodIssue, method: ToolName): string {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = Object.keys(rowOf(method).input.properties).join(', ');
    return `there is no field ${JSON.stringify(key.slice(0, 100))}; there ${known === '' ? 'is none' : `are: ${known}`}`;
  }
  const unit = 'origin' in issue && issue.origin === 'string' ? 'characters' : 'items';
  if (issue.code === 'too_big') return `has more than ${issue.maximum} ${unit}`;
  if (issue.code === 'too_small') return `needs at least ${issue.minimum} of its ${unit}`;
  return issue.message;
}
