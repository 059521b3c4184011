/** What agents say to each other, wait for and serve, as lines for people. It makes nothing harmless: whoever prints the lines does. */
import { cutText } from '../../base/cut-text.ts';
import { formatDuration } from '../../base/units.ts';
import type { EventOf, WaitFor } from '../../contract/event.ts';
import { hostOf } from '../../contract/services.ts';
import type { TaskNames } from '../../schedule/views/task-names.ts';
import type { AgentLine } from './agent-events.ts';

type MessageEvent = EventOf<'message.sent' | 'message.read' | 'message.delivered' | 'message.refused'>;
type WaitEvent = EventOf<'wait.began' | 'wait.ended' | 'wait.circled'>;

const BODY_CHARS_MAX = 300;
const IDS_SHOWN_MAX = 3;

/** Undefined where there is nothing to tell: where a message goes is what its sender wrote, most of the time. */
export function tellMessage(event: MessageEvent, names: TaskNames): AgentLine | undefined {
  switch (event.type) {
    case 'message.sent':
      if (event.publication) return undefined; // that it was published is told
      return { text: `→ ${event.to}: ${bodyOf(event)}  (${event.id}${event.urgent ? ', urgent' : ''})` };
    case 'message.delivered': {
      const to = event.to.map((task) => names.of(task));
      if (event.keptBy === undefined && to.length < 2) return undefined;
      return { text: `${event.id} is with ${someOf(to)}`, color: 'quiet' };
    }
    case 'message.refused':
      return { text: `${event.id} was not sent: ${event.text}`, color: 'ask' };
    default:
      if (event.ids.length === 0) return undefined;
      return { text: `${event.steered ? 'was given' : 'read'} ${someOf(event.ids)}`, color: 'quiet' };
  }
}

/** What came is told by itself; only that nothing did is told here. */
export function tellWait(event: WaitEvent, names: TaskNames): AgentLine | undefined {
  if (event.type === 'wait.circled')
    return { text: `agents wait for each other: ${event.text}`, color: 'ask' };
  if (event.type === 'wait.ended')
    return event.why === 'met' ? undefined : { text: `waits no longer: ${event.text}`, color: 'quiet' };
  const { for: what, timeoutMs } = event;
  return { text: `waits for ${thingOf(what, names)}, at most ${formatDuration(timeoutMs)}`, color: 'quiet' };
}

export function tellServed(event: EventOf<'service.announced' | 'service.gone'>): AgentLine {
  if (event.type === 'service.gone')
    return { text: `serves ${event.name} no longer: ${event.why}`, color: 'quiet' };
  return { text: `serves ${event.name}: http://${hostOf(event.name)} is its port ${event.port}` };
}

function thingOf(what: WaitFor, names: TaskNames): string {
  if (what.kind === 'end') return `the end of ${names.of(what.task)}`;
  if (what.kind === 'publication')
    return `${what.name}${what.version > 1 ? ` version ${what.version}` : ''} from ${names.of(what.publisher)}`;
  if (what.kind === 'service') return `the service ${what.name}`;
  const from = what.task === undefined ? what.agent : names.of(what.task);
  return `a message${from === undefined ? '' : ` from ${from}`}`;
}

function bodyOf({ body, bodyRef }: EventOf<'message.sent'>): string {
  if (bodyRef) return `(${bodyRef.bytes} bytes)`;
  const text = (typeof body === 'string' ? body : JSON.stringify(body)).replaceAll(/\s+/g, ' ').trim();
  return cutText(text, BODY_CHARS_MAX);
}

function someOf(words: readonly string[]): string {
  const shown = words.slice(0, IDS_SHOWN_MAX).join(', ');
  const left = words.length - IDS_SHOWN_MAX;
  return left > 0 ? `${shown} and ${left} more` : shown;
}
