/**
 * What every runtime does: turns a prompt into work in a workspace. Implementations: claude-code.ts, opencode.ts,
 * codex.ts, acp.ts, cli.ts; all pass test/cases/runtime.case.ts.
 */
import type { AgentError, AgentEvent, Dialect, JsonSchema, McpServer } from '../contract/model.ts';
import type { Question, Said } from '../contract/question.ts';
import type { Outcome } from '../contract/run.ts';
import type { Agent, Json } from '../contract/workflow.ts';
import type { Launch, Running } from '../system/process/process.ts';
import type { OutputSink } from './output/output.ts';

/** How an attempt is told to end. */
export interface StopSignal {
  /** Aborted when the agent is to end by itself, soon. */
  graceful: AbortSignal;
  /** Aborted when it is to end now. */
  now: AbortSignal;
}

export interface Job {
  /** Absent for a plain command: then the prompt is the command. */
  agent: Agent | undefined;
  prompt: string;
  feedback: string | undefined;
  /** What hooks have it told besides, also where it remembers the rest. */
  added?: string | undefined;
  env: Record<string, string>;
  /** Where the command starts, as it sees it. */
  cwd: string;
  /** The directory with the attempt's own files, outside the workspace; the same path inside and outside. */
  files: string;
  /** A directory that later attempts of the same task find as it was left: for the agent's own settings and sessions. */
  memory: string;
  timeoutMs: number | undefined;
  /** How long it had to wait for a person up to now: that counts for no time-out. */
  heldMs(): number;
  stop: StopSignal;
  output: OutputSink;
  launch(launch: Omit<Launch, 'cwd'>): Promise<Running>;
  /** Where models are reached from inside; absent for plain commands. */
  models: GatewayAccess | undefined;
  /** A conversation of an earlier attempt to go on with; `fork` leaves that one as it is. */
  session: { id: string; fork: boolean } | undefined;
  /** The JSON Schema that the output must satisfy. */
  schema: JsonSchema | undefined;
  mcp: Record<string, McpServer>;
  /** Whether a fence stands around it, which also covers settings of the repository that its program would obey. */
  isFenced: boolean;
  /** Whether the agent may change files at all: its fence holds that anyway, this is for its own settings. */
  isReadOnly: boolean;
  emit(event: AgentEvent): void;
  /** Asks a person, with a default and a time-out of its own: never hangs. */
  ask(question: Question): Promise<Said>;
  /** Gives what people and other agents say to the running agent to a listener; the return value ends that. */
  onSteer(listener: Steer): () => void;
}

/** Takes what is said to a running agent. */
export type Steer = (text: string, about?: SteerHandling) => void;

export interface SteerHandling {
  /** Where it has to wait: whether there is no need for it any more. */
  isStale?(): boolean;
  /** The agent has it now, with its next request to a model. */
  given?(): void;
}

/** The gateway as the agent sees it: `${baseUrl}/anthropic/v1/messages`, `/openai/chat/completions`, `/openai/responses`, `/gemini/v1beta/…`, `/<provider>/…`. */
export interface GatewayAccess {
  /** Such as http://127.0.0.1:4180. */
  baseUrl: string;
  /** A placeholder that opens nothing: the gateway has the real one. */
  key: string;
  /** The providers that are configured, by name, with the protocol that each speaks. */
  providers: Record<string, Dialect>;
}

export interface Result {
  outcome: Outcome;
  /** What the agent gave as its output: JSON where it is JSON, else text. */
  output: Json;
  /** The runtime itself asked for it in its form, or the agent wrote it to the file for it: nothing else counts. */
  isStructured?: true;
  /** Why it failed, where the runtime knows; decides on a fallback. */
  error?: AgentError;
}

export interface Runtime {
  run(job: Job): Promise<Result>;
}
