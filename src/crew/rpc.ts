/** Reads one JSON-RPC 2.0 request of an agent. What it does not know, it refuses with the protocol's own codes. */
import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { ERRORS } from '../contract/errors.ts';

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

const METHODS = {
  request_access: z.object({ paths: z.array(z.string()).max(1000) }),
  inbox: z.object({}),
  answer: z.object({ id: z.string().max(1000), answer: z.enum(['yes', 'no']) }),
} as const;

type Methods = typeof METHODS;
export type RpcRequest = {
  [M in keyof Methods]: { id: string | number | null; method: M; params: z.infer<Methods[M]> };
}[keyof Methods];

export function readRequest(line: string): RpcRequest {
  const message = parseJson(line);
  if (message === undefined) throw new RpcError(-32700, 'the message is no JSON');
  const envelope = Envelope.safeParse(message);
  if (!envelope.success) {
    throw new RpcError(-32600, 'the message is not a JSON-RPC 2.0 request with an id');
  }
  const { id, method, params = {} } = envelope.data;
  if (!Object.hasOwn(METHODS, method)) {
    const names = Object.keys(METHODS).join(', ');
    throw new RpcError(-32601, `there is no method "${method.slice(0, 100)}"; there are ${names}`, id);
  }
  const read = METHODS[method as keyof Methods].safeParse(params);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = ['params', ...(issue?.path ?? [])].join('.');
    throw new RpcError(ERRORS.usage.rpc, `${where} of ${method}: ${issue?.message}`, id);
  }
  return { id, method, params: read.data } as RpcRequest;
}
