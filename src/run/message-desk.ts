/**
 * Where attempts of a run send messages and read them: checks what they say, makes facts of it, and answers once it is in
 * the journal. Tells agents that do not look that something waits. It decides nothing: who gets a message is decided.
 */
import type { PendingAccess } from '../contract/access.ts';
import { BosunError, type ErrorCode } from '../contract/errors.ts';
import type { EventOf, Fact } from '../contract/event.ts';
import {
  MESSAGE_BYTES_MAX,
  type Inbox,
  type InboxMessage,
  type MessageRefusal,
  type Sent,
  type Waited,
} from '../contract/message.ts';
import type { Json } from '../contract/workflow.ts';
import type { CrewTools, ToolName } from '../crew/tools.ts';
import type { Steer } from '../runtime/runtime.ts';
import { unreadBy } from '../schedule/fold/messages.ts';
import { nodeOf, type Message } from '../schedule/state.ts';
import { agentOf } from '../schedule/workflow/agent-of.ts';
import { runIsOver, type Landings } from './landings.ts';
import type { Loop } from './loop.ts';

/** Of one task, in all its attempts. */
const MESSAGES_MAX = 1000;
/** Of one attempt, within `RATE_MS`. */
const RATE_MAX = 100;
const RATE_MS = 10_000;
/** Of what one call of inbox gives; at least one message. */
const PORTION_BYTES_MAX = 256 * 1024;
const NAMES_SHOWN_MAX = 5;

const REFUSALS: Record<MessageRefusal, ErrorCode> = {
  unknown: 'not-found',
  self: 'usage',
  ended: 'wrong-state',
  nobody: 'not-found',
  full: 'busy',
  cancelled: 'wrong-state',
};

export interface MessageDeskOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  landings: Pick<Landings, 'land' | 'act'>;
  /** Resolves when something comes for the attempt, or why nothing did. `along`: see `WaitAround`. */
  wait(
    at: { task: string; attempt: number },
    seconds: number,
    options: { left: AbortSignal | undefined; along(): Fact[] },
  ): Promise<Waited>;
  /** What the task is asked as an owner of files. */
  pendingAccess(task: string): PendingAccess[];
  nowMs(): number;
}

type SendInput = Parameters<CrewTools['send']>[0];
type InboxInput = Parameters<CrewTools['inbox']>[0];

export class MessageDesk {
  readonly #options: MessageDeskOptions;
  /** By the message's id. */
  readonly #sending = new Map<string, PromiseWithResolvers<Sent>>();
  readonly #mailboxes = new Map<string, Mailbox>();

  constructor(options: MessageDeskOptions) {
    this.#options = options;
  }

  /** What does the work behind the crew's tools, for one attempt. */
  toolsFor(task: string, attempt: number): Pick<CrewTools, 'send' | 'inbox'> {
    return {
      send: (input) => this.#send(task, attempt, input),
      inbox: (input, left) => this.#inbox(task, attempt, input, left),
    };
  }

  /** The line for an agent with unread messages. */
  notice(task: string, attempt: number): string | undefined {
    const unread = this.#unread(task, attempt);
    if (unread.length === 0) return undefined;
    const from = [...new Set(unread.map((message) => this.#labelOf(message.task)))];
    const more = from.length > NAMES_SHOWN_MAX ? `, and ${from.length - NAMES_SHOWN_MAX} more` : '';
    const what = unread.length === 1 ? '1 message waits' : `${unread.length} messages wait`;
    const names = from.slice(0, NAMES_SHOWN_MAX).map((name) => `from ${name}`);
    return `${what}: ${names.join(', ')}${more}; call inbox`;
  }

  noticeFor(task: string, attempt: number): (tool: ToolName) => string | undefined {
    return (tool) => (tool === 'inbox' ? undefined : this.notice(task, attempt));
  }

  /** The agent of the attempt can be told things; it is, as long as the returned function is not called. */
  listen(task: string, attempt: number, steer: Steer): () => void {
    const mailbox = this.#mailbox(task, attempt);
    mailbox.steer = steer;
    this.#tell(task, attempt);
    return () => {
      if (mailbox.steer === steer) delete mailbox.steer;
    };
  }

  /** A message is in inboxes now. */
  delivered({ id, to, full = [], keptBy }: EventOf<'message.delivered'>): void {
    const { state } = this.#options.loop;
    const nodes = to.map((name) => nodeOf(state, name));
    const waiting = nodes.filter((node) => node.state !== 'running').map(({ label }) => label);
    if (keptBy === undefined)
      this.#sending.get(id)?.resolve({
        id,
        to: nodes.map(({ label }) => label),
        waiting,
        full: full.map((name) => this.#labelOf(name)),
      });
    this.#sending.delete(id);
    const message = state.messages.get(id);
    for (const node of nodes) if (message) this.#arrived(node.id, node.attempt, message);
  }

  refused({ id, why, text }: EventOf<'message.refused'>): void {
    this.#sending.get(id)?.reject(new BosunError(REFUSALS[why], `the message was not sent: ${text}`));
    this.#sending.delete(id);
  }

  /** The attempt has ended. */
  forget(task: string, attempt: number): void {
    this.#mailboxes.delete(keyOf(task, attempt));
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const { reject } of this.#sending.values()) reject(runIsOver());
    this.#sending.clear();
  }

  async #send(task: string, attempt: number, { to, message, data, urgent }: SendInput): Promise<Sent> {
    if ((message === undefined) === (data === undefined))
      throw new BosunError('usage', 'a message needs a text (message) or JSON (data), one of the two');
    const body: Json = data ?? message!;
    const bytes = Buffer.byteLength(JSON.stringify(body));
    if (bytes > MESSAGE_BYTES_MAX)
      throw new BosunError(
        'usage',
        `the message has ${bytes} bytes, and ${MESSAGE_BYTES_MAX} is the most; write it to a file and say where it is`,
      );
    const id = this.#nextId(task, attempt);
    if (this.#options.loop.isOver) throw runIsOver();
    const sending = Promise.withResolvers<Sent>();
    this.#sending.set(id, sending);
    this.#options.loop.submit({
      type: 'message.sent',
      task,
      attempt,
      id,
      to,
      body,
      ...(urgent && { urgent }),
    });
    return sending.promise;
  }

  /** Task names hold no "+", so that nothing else has such a name. */
  #nextId(task: string, attempt: number): string {
    const mailbox = this.#mailbox(task, attempt);
    const count = Math.max(nodeOf(this.#options.loop.state, task).sent, mailbox.given);
    if (count >= MESSAGES_MAX)
      throw new BosunError('busy', `your task has sent ${MESSAGES_MAX} messages: that is the limit`);
    const nowMs = this.#options.nowMs();
    mailbox.sentAtMs = mailbox.sentAtMs.filter((atMs) => atMs > nowMs - RATE_MS && atMs <= nowMs);
    if (mailbox.sentAtMs.length >= RATE_MAX)
      throw new BosunError(
        'busy',
        `you have sent ${RATE_MAX} messages within ${RATE_MS / 1000} seconds; wait a few seconds`,
      );
    mailbox.sentAtMs.push(nowMs);
    mailbox.given = count + 1;
    return `${task}+m${mailbox.given}`;
  }

  async #inbox(
    task: string,
    attempt: number,
    { wait = 0, acknowledge = false }: InboxInput,
    left: AbortSignal | undefined,
  ): Promise<Inbox> {
    const isEmpty = (): boolean =>
      this.#unread(task, attempt).length === 0 && this.#options.pendingAccess(task).length === 0;
    if (acknowledge || wait === 0 || !isEmpty()) return this.#read(task, attempt, acknowledge, left);
    let reading: Reading | undefined;
    const along = (): Fact[] => (reading = this.#begin(task, attempt, false)).facts;
    const { over, text } = await this.#options.wait({ task, attempt }, wait, { left, along });
    if (reading) {
      this.#finish(reading, left);
      if (over !== 'met') throw runIsOver(); // nobody knows whether it is in the journal
      return reading.inbox;
    }
    const inbox = await this.#read(task, attempt, false, left);
    return over === 'met' ? inbox : { ...inbox, waited: text };
  }

  async #read(
    task: string,
    attempt: number,
    acknowledge: boolean,
    left: AbortSignal | undefined,
  ): Promise<Inbox> {
    const reading = this.#begin(task, attempt, acknowledge);
    try {
      for (const fact of reading.facts) await this.#options.landings.land(fact);
    } finally {
      this.#finish(reading, left);
    }
    return reading.inbox;
  }

  /** What is given is in the journal first: the facts for that, and what to answer then. */
  #begin(task: string, attempt: number, acknowledge: boolean): Reading {
    const node = nodeOf(this.#options.loop.state, task);
    const mailbox = this.#mailbox(task, attempt);
    const acknowledged = [...node.inbox]
      .filter(
        ([{ id }, { readBy }]) => readBy === attempt && !mailbox.missed.has(id) && !mailbox.reading.has(id),
      )
      .map(([{ id }]) => id);
    const unread = acknowledge ? [] : this.#unread(task, attempt);
    const portion = this.#portionOf(unread);
    const ids = portion.map(({ id }) => id);
    const messages = portion.map((message) => this.#shown(message, node.inbox.get(message)?.readBy, attempt));
    for (const id of ids) mailbox.reading.add(id);
    const isEmpty = ids.length + acknowledged.length === 0;
    return {
      mailbox,
      ids,
      facts: isEmpty
        ? []
        : [
            {
              type: 'message.read',
              task,
              attempt,
              ids,
              ...(acknowledged.length > 0 && { acknowledged }),
            },
          ],
      inbox: {
        messages,
        requests: acknowledge ? [] : this.#options.pendingAccess(task),
        left: unread.length - portion.length,
        acknowledged: acknowledged.length,
      },
    };
  }

  /** Who hung up before it was given gets it with the next call. */
  #finish({ mailbox, ids }: Reading, left: AbortSignal | undefined): void {
    for (const id of ids) {
      mailbox.reading.delete(id);
      if (left?.aborted) mailbox.missed.add(id);
      else mailbox.missed.delete(id);
    }
    mailbox.isTold = false;
  }

  /** Oldest first, without what another call of the attempt is about to give. */
  #unread(task: string, attempt: number): Message[] {
    const node = nodeOf(this.#options.loop.state, task);
    const { reading, missed } = this.#mailboxes.get(keyOf(task, attempt)) ?? newMailbox();
    const unread = unreadBy(node, attempt).map(([message]) => message);
    const again = [...node.inbox.keys()].filter(
      ({ id }) => missed.has(id) && !unread.some((one) => one.id === id),
    );
    return [...again, ...unread].filter(({ id }) => !reading.has(id));
  }

  #portionOf(messages: readonly Message[]): Message[] {
    let bytes = 0;
    const end = messages.findIndex(({ body, bodyRef }, n) => {
      bytes += bodyRef?.bytes ?? Buffer.byteLength(JSON.stringify(body));
      return n > 0 && bytes > PORTION_BYTES_MAX;
    });
    return end === -1 ? [...messages] : messages.slice(0, end);
  }

  #shown(message: Message, readBy: number | undefined, attempt: number): InboxMessage {
    const { state } = this.#options.loop;
    const { id, task, to, urgent, sentAtMs, body = null, bodyRef } = message;
    const node = nodeOf(state, task);
    const agent = agentOf(node, 'work')?.name;
    return {
      id,
      from: node.label,
      ...(agent !== undefined && { agent }),
      to,
      body: bodyRef ? state.read(bodyRef) : body,
      ...(urgent && { urgent }),
      sentAtMs,
      ...(readBy !== undefined && readBy !== attempt && { again: true as const }),
    };
  }

  /** An urgent one goes into the conversation of an agent that can be told things; of others it hears that they wait. */
  #arrived(task: string, attempt: number, message: Message): void {
    const mailbox = this.#mailboxes.get(keyOf(task, attempt));
    if (!mailbox?.steer || mailbox.reading.has(message.id)) return; // who waited for it has it
    if (!message.urgent) return this.#tell(task, attempt);
    const { from, body, id } = this.#shown(message, undefined, attempt);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    mailbox.reading.add(id);
    const fact: Fact = { type: 'message.read', task, attempt, ids: [id], steered: true };
    this.#options.landings.act(fact, () => {
      mailbox.reading.delete(id);
      if (mailbox.steer)
        mailbox.steer(`Urgent message ${id} from ${from}, another agent of this run:\n${text}`);
      else mailbox.missed.add(id);
    });
  }

  /** One line until it has looked. */
  #tell(task: string, attempt: number): void {
    const mailbox = this.#mailbox(task, attempt);
    const notice = this.notice(task, attempt);
    if (!mailbox.steer || mailbox.isTold || notice === undefined) return;
    mailbox.isTold = true;
    mailbox.steer(notice, { isStale: () => this.notice(task, attempt) === undefined });
  }

  #mailbox(task: string, attempt: number): Mailbox {
    const key = keyOf(task, attempt);
    let mailbox = this.#mailboxes.get(key);
    if (!mailbox) this.#mailboxes.set(key, (mailbox = newMailbox()));
    return mailbox;
  }

  #labelOf(task: string): string {
    return nodeOf(this.#options.loop.state, task).label;
  }
}

/** What is known of an attempt's messages beside the state. */
interface Mailbox {
  /** How many ids were given out, where that is ahead of the state. */
  given: number;
  sentAtMs: number[];
  /** About to be given by a call that is under way. */
  reading: Set<string>;
  /** In the journal as read, but whoever called had gone. */
  missed: Set<string>;
  isTold: boolean;
  steer?: Steer;
}

/** Messages that a call is about to give. */
interface Reading {
  mailbox: Mailbox;
  ids: string[];
  /** None where there is nothing to record. */
  facts: Fact[];
  inbox: Inbox;
}

function newMailbox(): Mailbox {
  return { given: 0, sentAtMs: [], reading: new Set(), missed: new Set(), isTold: false };
}

function keyOf(task: string, attempt: number): string {
  return `${task}@${attempt}`;
}
