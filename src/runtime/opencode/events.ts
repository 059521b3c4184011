/** What `opencode run --format json` prints, as the story of its agent. */
import type { AgentError, Tokens } from '../../contract/model.ts';
import { agentError } from '../agent/error.ts';
import { countOf, record, wordsOf, type AgentMessage } from '../agent/lines.ts';
import type { AgentProgram } from '../agent/program.ts';
import type { AgentStory } from '../agent/story.ts';

/** It would go on trying for ever; that is the gateway's to do. */
const FAILURES_MAX = 3;
const TEXT_CHARS_MAX = 1024 * 1024;
const WRITING_TOOLS = new Set(['write', 'edit', 'apply_patch', 'multiedit']);

export function opencodeReader(model: string): Pick<AgentProgram, 'read' | 'readStderr'> {
  let failures = 0;
  /** The text of one message comes in parts. */
  let [messageId, text] = ['', ''];

  const read = (message: AgentMessage, story: AgentStory): void => {
    story.started(wordsOf(message.sessionID), model);
    const part = record(message.part);
    switch (message.type) {
      case 'text':
        text =
          part.messageID === messageId
            ? `${text}\n\n${wordsOf(part.text)}`.slice(0, TEXT_CHARS_MAX)
            : wordsOf(part.text);
        messageId = wordsOf(part.messageID);
        return story.text(wordsOf(part.text), text);
      case 'tool_use':
        return tell(part, story);
      case 'step_finish':
        failures = part.reason === 'unknown' ? failures + 1 : 0;
        if (failures === FAILURES_MAX) {
          story.giveUp({
            kind: 'network',
            message: `the model gave no answer that can be read (${failures} times)`,
          });
        }
        story.turn();
        story.used(tokensOf(record(part.tokens)), countOf(part.cost) || undefined);
        return finish(wordsOf(part.reason), story);
      case 'error':
        return story.failed(errorOf(record(message.error)));
      default:
        return undefined;
    }
  };
  const readStderr = (line: string, story: AgentStory): void => {
    const said = /message="stream error".* error\.error="?(.*?)"?$/.exec(line)?.[1];
    if (said === undefined) return;
    const session = / session\.id=(\S+)/.exec(line)?.[1];
    if (session !== undefined) story.started(session, model);
    if (++failures < FAILURES_MAX) return;
    const error = agentError(`${said} (${failures} times)`);
    // It tries again only where the provider failed.
    story.giveUp(error.kind === 'crashed' ? { ...error, kind: 'overloaded' } : error);
  };
  return { read, readStderr };
}

/** A tool is told of once, when it is through. */
function tell(part: AgentMessage, story: AgentStory): void {
  const [id, name, state] = [wordsOf(part.callID ?? part.id), wordsOf(part.tool), record(part.state)];
  const isError = state.status === 'error';
  story.toolCall(id, name, state.input ?? null);
  story.toolResult(id, isError, wordsOf(isError ? state.error : state.output));
  if (isError || !WRITING_TOOLS.has(name)) return;
  for (const file of filesOf(state)) story.fileChanged(file);
}

function filesOf(state: AgentMessage): string[] {
  const { filePath } = record(state.input);
  if (typeof filePath === 'string') return [filePath];
  const files = record(state.metadata).files;
  if (!Array.isArray(files)) return [];
  return files.map((file) => record(file).filePath).filter((file) => typeof file === 'string');
}

/** The last step says `stop`; others go on after their tools. */
function finish(reason: string, story: AgentStory): void {
  if (reason === 'stop' || reason === 'length' || reason === 'end_turn') story.complete();
  else if (reason === 'content-filter') {
    story.failed({ kind: 'refused', message: 'the model refused to answer (content-filter)' });
  }
}

function errorOf(error: AgentMessage): AgentError {
  const data = record(error.data);
  const message = wordsOf(data.message ?? error.message ?? error.name ?? 'it failed without a word');
  const status = typeof data.statusCode === 'number' ? data.statusCode : undefined;
  return agentError(message, status);
}

function tokensOf(tokens: AgentMessage): Tokens {
  const cache = record(tokens.cache);
  return {
    input: countOf(tokens.input),
    output: countOf(tokens.output) + countOf(tokens.reasoning),
    cacheRead: countOf(cache.read),
    cacheWrite: countOf(cache.write),
  };
}
