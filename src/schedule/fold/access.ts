/**
 * What requests for access do to the state. Like the rest of the fold it decides nothing: a request that needs a
 * decision is put into `asks`, and each decision on it takes it out again.
 *
 *   requested ──▶ asks ──▶ owners asked ──▶ all said, or time is up ──▶ asks ──▶ person asked ──▶ answered
 *                  └───────────────────────────▶ answered ◀───────────────┘
 */
import type { AccessWord } from '../../contract/access.ts';
import type { EventOf } from '../../contract/event.ts';
import type { AccessRequest, Node, State } from '../state.ts';

type AccessEvent =
  | EventOf<'access.requested'>
  | EventOf<'access.said'>
  | EventOf<'access.unanswered'>
  | EventOf<'access.asked'>
  | EventOf<'access.answered'>
  | EventOf<'question.asked'>;

export function changeAccess(state: State, node: Node, event: AccessEvent): void {
  if (event.type === 'access.requested') {
    const { type: _, ...fields } = event;
    const request: AccessRequest = { ...fields, owners: new Map() };
    node.requests++;
    state.requests.set(event.id, request);
    return want(state, request);
  }
  const request = state.requests.get(event.id);
  if (!request) return;
  switch (event.type) {
    case 'access.said':
      return ownerSaid(state, request, event.owner, event.answer);
    case 'access.unanswered':
      if (state.questions.has(request.id)) return;
      request.isUnanswered = true;
      return want(state, request);
  }

  // What follows are decisions: each answers for the request at the head of `asks`.
  if (state.asks.peek() === request) {
    state.asks.shift();
    request.queued = false;
  }
  if (event.type === 'access.asked') for (const owner of event.owners) request.owners.set(owner, 'asked');
  if (event.type === 'access.answered') {
    state.requests.delete(request.id);
    state.questions.delete(request.id);
    if (event.answer === 'yes' && event.by !== 'scope')
      node.granted = [...new Set([...node.granted, ...event.globs])];
  }
}

/** A person answered. */
export function personSaid(state: State, event: EventOf<'question.answered'>): void {
  const request = state.requests.get(event.id)!;
  request.answer = event;
  want(state, request);
}

/** Nobody is left who could use a yes: of the task's attempt, or of any where none is named. */
export function closeRequests(state: State, node?: Node): void {
  for (const request of state.requests.values()) if (!node || request.task === node.id) want(state, request);
}

/** An owner that has ended has nothing against it. */
export function ownerEnded(state: State, node: Node): void {
  for (const request of state.requests.values()) ownerSaid(state, request, node.id, 'ended');
}

function ownerSaid(state: State, request: AccessRequest, owner: string, said: AccessWord | 'ended'): void {
  // The first word counts, and only of those who were asked.
  if (request.owners.get(owner) !== 'asked' || state.questions.has(request.id)) return;
  request.owners.set(owner, said);
  const isOpen = [...request.owners.values()].includes('asked');
  if (said === 'no' || said === 'applied' || !isOpen) want(state, request);
}

function want(state: State, request: AccessRequest): void {
  if (request.queued) return;
  request.queued = true;
  state.asks.push(request);
}
