/** What Claude's messages mean, as the story of an attempt. Mind that a failed turn may call itself a success. */
import { NO_TOKENS } from '../../contract/model.ts';
import type { Json } from '../../contract/workflow.ts';
import { agentError } from '../agent/error.ts';
import type { AgentStory } from '../agent/story.ts';
import type { SdkBlock, SdkMessage, SdkResult } from './sdk.ts';

const CALLS_MAX = 10_000;

export class ClaudeReader {
  readonly #story: AgentStory;
  readonly #isResumed: boolean;
  /** Which file each call that is not yet answered would change. */
  readonly #edits = new Map<string, string>();
  #answer: string | undefined;
  #claimed = { tokens: NO_TOKENS, usd: 0 };
  /** The output that satisfies the schema, as the agent's program claims. */
  structured: Json | undefined;
  isOutOfTurns = false;

  constructor(story: AgentStory, isResumed: boolean) {
    this.#story = story;
    this.#isResumed = isResumed;
  }

  read(message: SdkMessage): void {
    if (message.type === 'system' && message.subtype === 'init' && message.session_id !== undefined) {
      this.#story.started(message.session_id, message.model);
    } else if (message.type === 'assistant') {
      if (message.message.id !== this.#answer) this.#story.turn();
      this.#answer = message.message.id;
      for (const block of message.message.content ?? [])
        this.#said(block, message.parent_tool_use_id != null);
    } else if (message.type === 'user' && Array.isArray(message.message.content)) {
      for (const block of message.message.content) this.#got(block);
    } else if (message.type === 'result') this.#ended(message);
  }

  #said(block: SdkBlock, isOfSubagent: boolean): void {
    if (block.type === 'text' && !isOfSubagent) this.#story.text(block.text ?? '');
    if (block.type !== 'tool_use' || block.id === undefined) return;
    const { id, name = '', input = {} } = block;
    this.#story.toolCall(id, name, input);
    const file = input.file_path ?? input.notebook_path;
    const isEdit = name === 'Write' || name === 'Edit' || name === 'NotebookEdit';
    if (isEdit && typeof file === 'string' && this.#edits.size < CALLS_MAX) this.#edits.set(id, file);
  }

  #got(block: SdkBlock): void {
    const { type, tool_use_id: id, is_error: isError = false, content = '' } = block;
    if (type !== 'tool_result' || id === undefined) return;
    const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
    this.#story.toolResult(id, isError, text);
    const file = this.#edits.get(id);
    this.#edits.delete(id);
    if (file !== undefined && !isError) this.#story.fileChanged(file);
  }

  #ended(result: SdkResult): void {
    this.#count(result);
    this.structured = result.structured_output;
    const why = result.result ?? result.errors?.join('; ') ?? '';
    if (result.stop_reason === 'refusal') {
      this.#story.failed({ kind: 'refused', message: why || 'the model refused to answer' });
    } else if (result.subtype === 'error_max_turns') this.isOutOfTurns = true;
    // It tried, and could not: what it said last is the output, which is then found not to satisfy the schema.
    else if (result.subtype === 'error_max_structured_output_retries') this.#story.complete();
    else if (result.is_error === true || result.subtype !== 'success') {
      this.#story.failed(agentError(why || result.subtype, result.api_error_status ?? undefined));
    } else this.#story.complete();
  }

  #count({ usage, modelUsage }: SdkResult): void {
    // The totals of a conversation that is gone on with hold what earlier attempts used.
    if (this.#isResumed || !modelUsage) {
      if (usage) {
        this.#story.used({
          input: usage.input_tokens ?? 0,
          output: usage.output_tokens ?? 0,
          cacheRead: usage.cache_read_input_tokens ?? 0,
          cacheWrite: usage.cache_creation_input_tokens ?? 0,
        });
      }
      return;
    }
    const all = Object.values(modelUsage);
    const sum = (field: keyof (typeof all)[number]): number =>
      all.reduce((total, model) => total + (model[field] ?? 0), 0);
    const before = this.#claimed;
    const tokens = {
      input: sum('inputTokens'),
      output: sum('outputTokens'),
      cacheRead: sum('cacheReadInputTokens'),
      cacheWrite: sum('cacheCreationInputTokens'),
    };
    const now = { tokens, usd: sum('costUSD') };
    this.#claimed = now;
    this.#story.used(
      {
        input: now.tokens.input - before.tokens.input,
        output: now.tokens.output - before.tokens.output,
        cacheRead: now.tokens.cacheRead - before.tokens.cacheRead,
        cacheWrite: now.tokens.cacheWrite - before.tokens.cacheWrite,
      },
      now.usd - before.usd,
    );
  }
}
