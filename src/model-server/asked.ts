/** What a request to a model says and what it is answered with, in words that all dialects share. Types only. */
import type { Dialect, Tokens } from '../contract/model.ts';

export interface ChatMessage {
  /** `system` is also what the agent itself says about its surroundings; `tool` is what a tool gave. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
}

export interface OfferedTool {
  name: string;
  /** JSON Schema of its input; absent where the input is plain text. */
  schema: Schema | undefined;
  /** Where it stands in a group of tools that is named when it is called. */
  namespace?: string;
  /** The name of the tool that takes programs, from which alone this one can be called. */
  program?: string;
}

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  items?: Schema;
}

export interface AskedModel {
  dialect: Dialect;
  model: string;
  isStream: boolean;
  messages: ChatMessage[];
  tools: OfferedTool[];
  /** The JSON Schema that the answer's text must satisfy. */
  format: Schema | undefined;
  /** How many answers of the model the conversation has. */
  turn: number;
  /** Whether a stream is to end with what was used. */
  wantsUsage: boolean;
}

export type ContentPart =
  | { kind: 'text'; text: string }
  | { kind: 'call'; id: string; name: string; namespace?: string; input: Record<string, unknown> | string };

type Stop = 'end' | 'tools' | 'length' | 'refusal';

export interface ScriptedReply {
  /** Unique among all replies of all servers. */
  id: string;
  model: string;
  parts: ContentPart[];
  tokens: Tokens;
  stop: Stop;
}

/** One API of one provider. */
export interface Speech {
  dialect: Dialect;
  read(body: Record<string, unknown>, path: string): AskedModel;
  /** Not streamed: the whole body. */
  whole(reply: ScriptedReply): unknown;
  /** Streamed: the pieces, each as it goes over the wire. */
  pieces(reply: ScriptedReply, asked: AskedModel): string[];
  error(status: number, message: string, retryAfterMs: number | undefined): unknown;
}
