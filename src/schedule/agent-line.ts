/** What an agent does, as a line for people. Pure. */
import type { AgentEvent } from '../contract/model.ts';

/** Undefined where there is nothing to show. */
export function agentLine(event: AgentEvent): string | undefined {
  switch (event.kind) {
    case 'text':
      return event.text;
    case 'tool-call':
      return `→ ${event.name} ${event.input}`.trimEnd();
    case 'tool-result':
      return event.isError ? `✗ ${event.text}` : undefined;
    case 'file-changed':
      return `changed ${event.path}`;
    case 'asked':
      return `asked: ${event.text} (${event.answer})`;
    case 'error':
      return `${event.error.kind}: ${event.error.message}`;
    case 'started':
    case 'usage':
    case 'finished':
      return undefined;
  }
}
