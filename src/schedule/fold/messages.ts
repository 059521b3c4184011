/**
 * What messages do to the state. Like the rest of the fold it decides nothing: a message that needs a decision is put
 * into `mail`, and the decision on it takes it out again.
 *
 *   sent ──▶ mail ──▶ delivered ──▶ in inboxes ──▶ read by an attempt ──▶ acknowledged: gone
 *              └──▶ refused: gone        ▲                │ it ended without that
 *                                        └────────────────┘ unread for the next attempt
 */
import type { EventOf } from '../../contract/event.ts';
import { nodeOf, type InboxEntry, type Message, type Node, type State } from '../state.ts';
import { isReader } from '../workflow/addressees.ts';

type MailEvent = EventOf<'message.sent' | 'message.read' | 'message.delivered' | 'message.refused'>;

export function changeMail(state: State, node: Node, event: MailEvent, atMs: number): void {
  if (event.type === 'message.read') return read(state, node, event);
  if (event.type === 'message.sent') {
    const { type: _, ...fields } = event;
    const message: Message = { ...fields, sentAtMs: atMs, inboxes: 0 };
    node.sent++;
    state.messages.set(message.id, message);
    return state.mail.push(message);
  }
  const message = state.messages.get(event.id);
  if (!message) return;
  if (state.mail.peek() === message) state.mail.shift();
  if (event.type === 'message.delivered') deliver(state, message, event);
  forgetUnwanted(state, message);
}

function deliver(state: State, message: Message, { to, keptBy }: EventOf<'message.delivered'>): void {
  if (keptBy !== undefined) take(state, nodeOf(state, keptBy), message);
  for (const id of to) {
    const node = nodeOf(state, id);
    if (node.inbox.has(message)) continue;
    node.inbox.set(message, {});
    message.inboxes++;
    if (!isReader(node)) state.keepers.add(node);
  }
}

/** Only what this very attempt was given is acknowledged by it. */
function read(state: State, node: Node, event: EventOf<'message.read'>): void {
  const { attempt, ids, acknowledged = [] } = event;
  for (const id of acknowledged) {
    const message = state.messages.get(id);
    if (!message || node.inbox.get(message)?.readBy !== attempt) continue;
    take(state, node, message);
    forgetUnwanted(state, message);
  }
  for (const id of ids) {
    const message = state.messages.get(id);
    const entry = message && node.inbox.get(message);
    if (entry) entry.readBy = attempt;
  }
}

/** What is done is never opened again: nobody is left to read. */
export function closeInbox(state: State, node: Node): void {
  if (node.state !== 'done') return;
  for (const message of node.inbox.keys()) {
    take(state, node, message);
    forgetUnwanted(state, message);
  }
}

/** What an attempt of that number has not been given, oldest first. */
export function unreadBy({ inbox }: Node, attempt: number): [Message, InboxEntry][] {
  return [...inbox].filter(([, { readBy }]) => readBy !== attempt);
}

function take(state: State, node: Node, message: Message): void {
  if (!node.inbox.delete(message)) return;
  message.inboxes--;
  if (node.inbox.size === 0) state.keepers.delete(node);
}

function forgetUnwanted(state: State, message: Message): void {
  if (message.inboxes === 0) state.messages.delete(message.id);
}
