/** What `codex exec --json` prints, as the story of its agent. */
import type { Tokens } from '../../contract/model.ts';
import { NO_TOKENS } from '../../contract/model.ts';
import type { Json } from '../../contract/workflow.ts';
import { agentError } from '../agent/error.ts';
import { countOf, record, wordsOf, type AgentMessage } from '../agent/lines.ts';
import type { AgentStory } from '../agent/story.ts';

/** Words of one that goes on trying; the last word is `turn.failed`. */
const PASSING = /^Reconnecting/;
const TOOLS = new Set([
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
]);

/**
 * Codex counts what a conversation used from its very beginning. So of one that goes on from an earlier attempt the
 * first turn claims nothing: nobody knows what of it is new.
 */
export function codexReader(
  model: string | undefined,
  isResumed: boolean,
): (message: AgentMessage, story: AgentStory) => void {
  let counted = isResumed ? undefined : NO_TOKENS;
  let isAnswering = false;
  const begun = new Set<string>();

  /** The model answers once to each lot of results; an answer has several items. */
  const answer = (story: AgentStory): void => {
    if (!isAnswering) story.turn();
    isAnswering = true;
  };
  const begin = (item: AgentMessage, story: AgentStory): void => {
    const id = wordsOf(item.id);
    if (!TOOLS.has(wordsOf(item.type)) || begun.has(id)) return;
    begun.add(id);
    answer(story);
    story.toolCall(id, nameOf(item), inputOf(item));
  };
  const finish = (item: AgentMessage, story: AgentStory): void => {
    if (item.type === 'agent_message') {
      answer(story);
      return story.text(wordsOf(item.text));
    }
    if (!TOOLS.has(wordsOf(item.type))) return;
    begin(item, story);
    begun.delete(wordsOf(item.id));
    isAnswering = false;
    story.toolResult(wordsOf(item.id), item.status === 'failed', resultOf(item));
    if (item.type === 'file_change' && item.status !== 'failed') {
      for (const change of listOf(item.changes)) story.fileChanged(wordsOf(change.path));
    }
  };
  return (message, story) => {
    switch (message.type) {
      case 'thread.started':
        begun.clear();
        isAnswering = false;
        return story.started(wordsOf(message.thread_id), model);
      case 'item.started':
        return begin(record(message.item), story);
      case 'item.completed':
        return finish(record(message.item), story);
      case 'error': {
        const text = wordsOf(message.message);
        return PASSING.test(text) ? undefined : story.failed(agentError(text));
      }
      case 'turn.failed':
        return story.failed(agentError(wordsOf(record(message.error).message)));
      case 'turn.completed': {
        const all = tokensOf(record(message.usage));
        if (counted) story.used(minus(all, counted));
        counted = all;
        return story.complete();
      }
      default:
        return undefined;
    }
  };
}

function nameOf(item: AgentMessage): string {
  if (item.type === 'command_execution') return 'shell';
  if (item.type === 'file_change') return 'apply_patch';
  return wordsOf(item.tool ?? item.type);
}

function inputOf(item: AgentMessage): Json {
  return item.command ?? item.changes ?? item.arguments ?? item.query ?? null;
}

function resultOf(item: AgentMessage): string {
  if (item.type === 'command_execution') return wordsOf(item.aggregated_output);
  return wordsOf(item.error ?? item.result ?? item.status);
}

/** Its `input_tokens` has what was read from a cache in it. */
function tokensOf(usage: AgentMessage): Tokens {
  const [read, write] = [countOf(usage.cached_input_tokens), countOf(usage.cache_write_input_tokens)];
  return {
    input: Math.max(0, countOf(usage.input_tokens) - read - write),
    output: countOf(usage.output_tokens),
    cacheRead: read,
    cacheWrite: write,
  };
}

function minus(all: Tokens, before: Tokens): Tokens {
  return {
    input: Math.max(0, all.input - before.input),
    output: Math.max(0, all.output - before.output),
    cacheRead: Math.max(0, all.cacheRead - before.cacheRead),
    cacheWrite: Math.max(0, all.cacheWrite - before.cacheWrite),
  };
}

function listOf(value: Json | undefined): AgentMessage[] {
  return Array.isArray(value) ? value.map(record) : [];
}
