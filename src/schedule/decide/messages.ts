/** Which inboxes a message goes to, or why to none. Pure, as all of decide. */
import type { Decision, EventOf } from '../../contract/event.ts';
import { addresseesOf, inboxesOf } from '../workflow/addressees.ts';
import { onEarlierVersion } from '../workflow/publications.ts';
import { nodeOf, type Message, type Node, type State } from '../state.ts';

/** Unread ones, and those that are not acknowledged, of one task. */
const INBOX_MESSAGES_MAX = 1000;
/** Of one message. */
const READERS_MAX = 1000;
/** That wait in a run. */
const RUN_MESSAGES_MAX = 10_000;

export function decideMail(state: State): Decision | undefined {
  const message = state.mail.peek();
  if (message) return decideMessage(state, message);
  for (const keeper of state.keepers) {
    if (keeper.state !== 'expanded' || keeper.open === 0 || state.cancelling) continue;
    for (const kept of keeper.inbox.keys()) {
      const inboxes = inboxesOf(state, keeper, kept);
      if (inboxes.length > 0 && !inboxes.includes(keeper))
        return { ...delivered(kept, inboxes), keptBy: keeper.id };
    }
  }
  return undefined;
}

function decideMessage(state: State, message: Message): Decision {
  const { task, attempt, id, to } = message;
  const refused = (why: 'full' | 'cancelled', text: string): Decision => ({
    type: 'message.refused',
    task,
    attempt,
    id,
    why,
    text,
  });
  if (state.cancelling) return refused('cancelled', 'the run is being cancelled');
  if (message.publication) return toldOfPublication(state, message, message.publication);
  const found = addresseesOf(state, nodeOf(state, task), to);
  if ('why' in found) return { type: 'message.refused', task, attempt, id, ...found };
  const { inboxes } = found;
  if (state.messages.size > RUN_MESSAGES_MAX)
    return refused('full', `${RUN_MESSAGES_MAX} messages of this run wait to be read`);
  if (inboxes.length > READERS_MAX)
    return refused('full', `${inboxes.length} tasks would get it, and ${READERS_MAX} is the most; name some`);
  const full = inboxes.filter(({ inbox }) => inbox.size >= INBOX_MESSAGES_MAX);
  if (full.length === inboxes.length)
    return refused('full', `the inbox of ${namesOf(full)} has ${INBOX_MESSAGES_MAX} messages already`);
  const open = inboxes.filter((node) => !full.includes(node));
  return { ...delivered(message, open), ...(full.length > 0 && { full: full.map(({ id: name }) => name) }) };
}

/** Those who work on an earlier version hear of it; where nobody does, it goes nowhere. */
function toldOfPublication(
  state: State,
  message: Message,
  { name, version }: NonNullable<Message['publication']>,
): Decision {
  const published = nodeOf(state, message.task).interfaces.get(name);
  // What came after the end of its attempt was never published.
  const isThere = published?.versions.some((one) => one.version === version && one.task === message.task);
  const readers = published && isThere ? onEarlierVersion(state, published) : [];
  const open = readers.filter(({ inbox }) => inbox.size < INBOX_MESSAGES_MAX);
  return delivered(message, open.slice(0, READERS_MAX));
}

function delivered({ task, attempt, id }: Message, inboxes: readonly Node[]): EventOf<'message.delivered'> {
  return { type: 'message.delivered', task, attempt, id, to: inboxes.map((node) => node.id) };
}

function namesOf(nodes: readonly Node[]): string {
  const [first, ...others] = nodes;
  return others.length === 0 ? first!.label : `${first!.label} and ${others.length} more`;
}
