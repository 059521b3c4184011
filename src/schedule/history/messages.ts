/** What agents of a run said to each other, and who read it: one record a message, as many as a report has room for. */
import type { Event, EventOf } from '../../contract/event.ts';
import type { MessageReport } from '../../contract/report.ts';
import { HISTORY_LIMITS } from './limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';

export class MessageLog {
  readonly #byId = new Map<string, MessageReport>();
  leftOut = 0;

  /** Of any event: most say nothing of messages. */
  add(event: Event, atMs: number): void {
    if (event.type === 'message.sent') return this.#sent(event, atMs);
    if (event.type === 'message.read') {
      for (const id of event.ids) {
        const reader = this.#byId.get(id)?.readers.find(({ task }) => task === event.task);
        if (reader) reader.readAtMs ??= atMs;
      }
    } else if (event.type === 'message.delivered') this.#delivered(event);
    else if (event.type === 'message.refused') {
      const message = this.#byId.get(event.id);
      if (message) message.refused = cutAndCount(event.text, HISTORY_LIMITS.lineChars);
    }
  }

  copy(each: (message: MessageReport) => MessageReport): MessageLog {
    const copy = new MessageLog();
    for (const [id, message] of this.#byId) copy.#byId.set(id, each(message));
    copy.leftOut = this.leftOut;
    return copy;
  }

  /** In the order in which they were sent. */
  get messages(): MessageReport[] {
    return [...this.#byId.values()];
  }

  #sent(event: EventOf<'message.sent'>, atMs: number): void {
    if (this.#byId.size >= HISTORY_LIMITS.listEntries) {
      this.leftOut++;
      return;
    }
    const { id, task, attempt, to, body, bodyRef, urgent = false } = event;
    const text = bodyRef
      ? `(${bodyRef.bytes} bytes)`
      : typeof body === 'string'
        ? body
        : JSON.stringify(body);
    this.#byId.set(id, {
      id,
      task,
      attempt,
      to: cutAndCount(to, HISTORY_LIMITS.lineChars),
      text: cutAndCount(text, HISTORY_LIMITS.messageChars),
      urgent,
      sentAtMs: atMs,
      readers: [],
      refused: null,
    });
  }

  #delivered({ id, to, keptBy }: EventOf<'message.delivered'>): void {
    const message = this.#byId.get(id);
    if (!message) return;
    if (to.length === 0) return void this.#byId.delete(id); // nobody worked on an earlier version of what is published
    message.readers = message.readers.filter(({ task }) => task !== keptBy);
    for (const task of to) message.readers.push({ task, readAtMs: null });
  }
}

/** By task: how many messages it was sent and did not read. */
export function unreadCounts(messages: readonly MessageReport[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { readers } of messages)
    for (const { task, readAtMs } of readers)
      if (readAtMs === null) counts.set(task, (counts.get(task) ?? 0) + 1);
  return counts;
}
