/** What agents of a run say to each other, as they send it and as they find it in their inboxes. Types and limits only. */
import type { PendingAccess } from './access.ts';
import type { Json } from './workflow.ts';

/** Of one message, as JSON. */
export const MESSAGE_BYTES_MAX = 64 * 1024;

/** A message as its reader gets it. */
export interface InboxMessage {
  id: string;
  /** The task that sent it, as people call it, and the agent that did. */
  from: string;
  agent?: string;
  /** Whom it was sent to, in the sender's words. */
  to: string;
  /** A text, or any JSON. */
  body: Json;
  urgent?: true;
  sentAtMs: number;
  /** An earlier attempt of the task was given it and did not acknowledge it. */
  again?: true;
}

/** What an inbox holds for an attempt: oldest first. */
export interface Inbox {
  messages: InboxMessage[];
  requests: PendingAccess[];
  /** Unread messages that did not fit into this answer. */
  left: number;
  /** How many messages this call acknowledged: those that earlier calls of the attempt gave. */
  acknowledged: number;
  /** Why a wait ended, where nothing came. */
  waited?: string;
}

/** A message that is in the journal, and in these inboxes. */
export interface Sent {
  id: string;
  /** As people call the tasks. */
  to: string[];
  /** Those of them that have not started: it waits for them. */
  waiting: string[];
  /** Those whose inbox has no room: it did not go there. */
  full: string[];
}

/** Why a message went nowhere. */
export type MessageRefusal = 'unknown' | 'self' | 'ended' | 'nobody' | 'full' | 'cancelled';

/** What came of a wait. */
export interface Waited {
  /** `met`: it happened. `ended`: it cannot happen any more. `circle`: agents wait for each other. */
  over: 'met' | 'expired' | 'ended' | 'circle' | 'cancelled';
  text: string;
}
