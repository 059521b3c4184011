/** What an ACP agent's updates mean, as the story of an attempt. */
import { setTimeout } from 'node:timers/promises';
import type {
  PromptResponse,
  SessionInfoUpdate,
  SessionNotification,
  ToolCall,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { Json } from '../../contract/workflow.ts';
import { agentError } from '../agent/error.ts';
import type { AgentStory } from '../agent/story.ts';

const TEXT_CHARS_MAX = 1024 * 1024;
const CALLS_MAX = 10_000;
/** When nothing was told for so long the earlier conversation is over; it takes no longer than the other in any case. */
const QUIET_MS = 300;
const QUIET_MS_MAX = 10_000;

interface Call {
  name: string;
  input: Json;
  isTold: boolean;
  isEdit: boolean;
  content: ToolCallContent[];
  output: unknown;
  printed: string;
  files: Set<string>;
}

export class AcpReader {
  readonly #story: AgentStory;
  readonly #calls = new Map<string, Call>();
  #text = '';
  #message: string | undefined;
  #isListening = false;
  #toldMs = 0;
  /** Whether what it says next is why it could not go on, although it ends its turn as if all were well. */
  #isBroken = false;
  /** Whether what comes next begins an answer of the model's. */
  #isNext = true;

  constructor(story: AgentStory) {
    this.#story = story;
  }

  /** What comes before is the earlier conversation, told again. */
  begin(): void {
    this.#isListening = true;
  }

  /** Some are still telling the earlier conversation when they have said that it is open. */
  async quiet(): Promise<void> {
    const fromMs = (this.#toldMs = performance.now());
    for (let nowMs = fromMs; nowMs < this.#toldMs + QUIET_MS && nowMs < fromMs + QUIET_MS_MAX;) {
      await setTimeout(this.#toldMs + QUIET_MS - nowMs);
      nowMs = performance.now();
    }
  }

  read({ update }: SessionNotification): void {
    this.#toldMs = performance.now();
    if (!this.#isListening) return;
    if (update.sessionUpdate === 'agent_message_chunk') {
      this.#answers();
      const id = update.messageId ?? undefined;
      if (id !== this.#message) this.#flush();
      this.#message = id;
      if (update.content.type === 'text')
        this.#text = (this.#text + update.content.text).slice(0, TEXT_CHARS_MAX);
    } else if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      this.#flush();
      if (!this.#calls.has(update.toolCallId)) this.#answers();
      this.#tool(update);
    } else if (update.sessionUpdate === 'session_info_update' && isBroken(update)) {
      this.#flush();
      this.#isBroken = true;
    }
  }

  endTurn(response: PromptResponse): void {
    if (this.#isBroken) this.#breakDown();
    this.#flush();
    for (const id of this.#calls.keys()) this.#tell(id);
    this.#isNext = true;
    this.#count(response);
    const { stopReason } = response;
    if (stopReason === 'refusal') {
      this.#story.failed({ kind: 'refused', message: 'the model refused to go on' });
    } else if (stopReason === 'cancelled') {
      this.#story.failed({
        kind: 'crashed',
        message: 'the agent gave up its turn, although nobody cancelled it',
      });
    } else if (stopReason === 'max_tokens') {
      this.#story.failed({ kind: 'bad-request', message: 'the answer is longer than the model can give' });
    } else this.#story.complete();
  }

  #breakDown(): void {
    this.#story.failed(agentError(this.#text.trim() || 'the agent did not say why it could not go on'));
    this.#text = '';
    this.#isBroken = false;
  }

  /** The protocol does not tell one answer from the next; but tools are only used between two. */
  #answers(): void {
    if (this.#isNext) this.#story.turn();
    this.#isNext = false;
  }

  #flush(): void {
    this.#story.text(this.#text);
    this.#text = '';
  }

  /** Told once its input is known, which with some agents comes later than the call. */
  #tool(update: ToolCall | ToolCallUpdate): void {
    const { toolCallId: id, status } = update;
    const call = this.#calls.get(id) ?? {
      name: '',
      input: '',
      isTold: false,
      isEdit: false,
      content: [],
      output: undefined,
      printed: '',
      files: new Set(),
    };
    if (!this.#calls.has(id) && this.#calls.size >= CALLS_MAX) return;
    this.#calls.set(id, call);
    call.name = update.name ?? (call.name || (update.title ?? ''));
    if (update.rawInput !== undefined && update.rawInput !== null) call.input = update.rawInput as Json;
    if (update.kind)
      call.isEdit = update.kind === 'edit' || update.kind === 'delete' || update.kind === 'move';
    if (update.content) call.content = update.content;
    if (update.rawOutput !== undefined) call.output = update.rawOutput;
    call.printed = (call.printed + printedIn(update)).slice(0, TEXT_CHARS_MAX);
    for (const { path } of update.locations ?? []) call.files.add(path);
    for (const part of update.content ?? []) if (part.type === 'diff') call.files.add(part.path);
    if (status === 'in_progress' && call.input !== '') this.#tell(id);
    if (status !== 'completed' && status !== 'failed') return;
    this.#isNext = true;
    this.#tell(id);
    this.#calls.delete(id);
    this.#story.toolResult(id, status === 'failed', textOf(call));
    if (status === 'completed' && call.isEdit) for (const file of call.files) this.#story.fileChanged(file);
  }

  #tell(id: string): void {
    const call = this.#calls.get(id);
    if (!call || call.isTold) return;
    call.isTold = true;
    this.#story.toolCall(id, call.name, call.input);
  }

  /** A field that not all have, and not in the protocol's stable part; each means something else by it. */
  #count(response: PromptResponse): void {
    const { usage, _meta: meta } = response as PromptResponse & { usage?: Record<string, number | null> };
    const quota = (meta?.quota as { token_count?: Record<string, number> } | undefined)?.token_count;
    if (usage) {
      this.#story.used({
        input: usage.inputTokens ?? 0,
        output: usage.outputTokens ?? 0,
        cacheRead: usage.cachedReadTokens ?? 0,
        cacheWrite: usage.cachedWriteTokens ?? 0,
      });
    } else if (quota) {
      const { input_tokens: input = 0, output_tokens: output = 0 } = quota;
      this.#story.used({ input, output, cacheRead: 0, cacheWrite: 0 });
    }
  }
}

/** As codex-acp says it. */
function isBroken({ _meta: meta }: SessionInfoUpdate): boolean {
  const codex = meta?.codex as { threadStatus?: { type?: unknown } } | undefined;
  return codex?.threadStatus?.type === 'systemError';
}

/** What a command prints, piece by piece, where the agent shows it in a terminal. */
function printedIn({ _meta: meta }: ToolCall | ToolCallUpdate): string {
  const piece = meta?.terminal_output_delta as { data?: unknown } | undefined;
  return typeof piece?.data === 'string' ? piece.data : '';
}

function textOf({ content, output, printed }: Call): string {
  const said = content.flatMap((part) =>
    part.type === 'content' && part.content.type === 'text' ? [part.content.text] : [],
  );
  if (said.length > 0) return said.join('\n');
  if (printed !== '') return printed;
  return typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output);
}
