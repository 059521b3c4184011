/** When a wait of an agent is over, and what it hears then. Pure, as all of decide. */
import { formatDuration } from '../../base/units.ts';
import type { EventOf, WaitFor } from '../../contract/event.ts';
import { unreadBy } from '../fold/messages.ts';
import { agentOf } from '../workflow/agent-of.ts';
import { tellPublication, standingFrom } from '../workflow/publications.ts';
import { mayReachService, tellBarred, tellService } from '../workflow/services.ts';
import {
  hasEnded,
  isTaskWithin,
  nodeOf,
  type Interface,
  type Node,
  type State,
  type Wait,
} from '../state.ts';

type Over = Pick<EventOf<'wait.ended'>, 'why' | 'text'>;

export function decideWait(state: State): EventOf<'wait.ended'> | undefined {
  for (const wait of state.agentWaits.values()) {
    const over = overOf(state, wait);
    if (!over) continue;
    const { task, attempt, id } = wait;
    return { type: 'wait.ended', task, attempt, id, ...over };
  }
  return undefined;
}

/** How many attempts count against `concurrency`: those that wait leave their places to others, to as many again at most. */
export function takenPlaces({ running, away, workflow }: State): number {
  return running - Math.min(away, workflow.concurrency);
}

function overOf(state: State, wait: Wait): Over | undefined {
  if (state.cancelling) return { why: 'cancelled', text: 'the run is being cancelled' };
  const over = happened(state, wait);
  if (over || !wait.isExpired) return over;
  return { why: 'expired', text: `nothing came within ${formatDuration(wait.timeoutMs)}` };
}

function happened(state: State, wait: Wait): Over | undefined {
  if (wait.for.kind === 'end') return afterEnd(state, wait.for.task);
  if (wait.for.kind === 'service') return afterService(state, wait.task, wait.for.name);
  return wait.for.kind === 'publication' ? afterPublication(state, wait.for) : afterMessage(state, wait);
}

type ForPublication = WaitFor & { kind: 'publication' };

export function awaitedInterface(state: State, { publisher, name }: ForPublication): Interface {
  return nodeOf(state, publisher).interfaces.get(name)!;
}

function afterPublication(state: State, what: ForPublication): Over | undefined {
  const awaited = awaitedInterface(state, what);
  const found = standingFrom(state, awaited, what.version);
  if (found) return { why: 'met', text: tellPublication(state, found) };
  const { publisher, name } = awaited;
  if (!hasEnded(publisher)) return undefined;
  const version = what.version > 1 ? ` version ${what.version} of` : '';
  return {
    why: 'ended',
    text: `${publisher.label} has ended (${publisher.state}) and did not publish${version} ${name}`,
  };
}

/** Who may serve it nobody knows: it can come as long as anybody is at work. */
function afterService(state: State, task: string, name: string): Over | undefined {
  const service = state.services.get(name);
  if (!service) return undefined;
  if (mayReachService(state, nodeOf(state, task), service))
    return { why: 'met', text: tellService(state, service) };
  const { why, remedy } = tellBarred(state, service);
  return { why: 'ended', text: `you may not reach ${name}: ${why}; ${remedy}` };
}

function afterEnd(state: State, task: string): Over | undefined {
  const node = nodeOf(state, task);
  if (!hasEnded(node)) return undefined;
  const message = node.outcome && 'message' in node.outcome ? `: ${node.outcome.message}` : '';
  return { why: 'met', text: `${node.label} has ended (${node.state}${message})` };
}

function afterMessage(state: State, wait: Wait): Over | undefined {
  const node = nodeOf(state, wait.task);
  const senders = sendersOf(wait);
  const found = unreadBy(node, wait.attempt).find(([{ task }]) => senders(nodeOf(state, task)));
  if (found)
    return { why: 'met', text: `a message from ${nodeOf(state, found[0].task).label} waits; call inbox` };
  if (isAnybody(wait)) return isAskedForAccess(state, node) ? { why: 'met', text: ASKED } : undefined;
  return isAnyLeft(state, wait, senders)
    ? undefined
    : { why: 'ended', text: `${nameOf(state, wait)} has ended and sent nothing more` };
}

/** Of each wait for a message, a sender that had not ended when it was last looked for. */
const openSenders = new WeakMap<Wait, Node>();

/** It is asked at each decision, so all tasks are gone through only once the sender that was known has ended. */
function isAnyLeft(state: State, wait: Wait, senders: (node: Node) => boolean): boolean {
  const known = openSenders.get(wait);
  if (known && !hasEnded(known)) return true;
  for (const node of state.nodes.values()) {
    if (hasEnded(node) || !senders(node)) continue;
    openSenders.set(wait, node);
    return true;
  }
  return false;
}

const ASKED = 'another agent asks for files that you own; call inbox';

/** Whose message would do; who could serve it. */
export function sendersOf({ for: what, task: reader }: Wait): (node: Node) => boolean {
  if (what.kind === 'service') return (node) => node.id !== reader;
  if (what.kind !== 'message') return () => false;
  const { task, agent } = what;
  if (task !== undefined) return (node) => isTaskWithin(node, task);
  if (agent !== undefined)
    return (node) => node.task.handoff?.includes(agent) ?? agentOf(node, 'work')?.name === agent;
  return (node) => node.id !== reader;
}

/** What it waits for, in words. */
export function describeWait(state: State, wait: Wait): string {
  if (wait.for.kind === 'end') return `the end of ${nodeOf(state, wait.for.task).label}`;
  if (wait.for.kind === 'publication')
    return `${wait.for.name} from ${nodeOf(state, wait.for.publisher).label}`;
  if (wait.for.kind === 'service') return `the service ${wait.for.name}`;
  return isAnybody(wait) ? 'a message' : `a message from ${nameOf(state, wait)}`;
}

function nameOf(state: State, { for: what }: Wait): string {
  if (what.kind !== 'message') return '';
  return what.task === undefined ? `agent ${what.agent}` : nodeOf(state, what.task).label;
}

function isAnybody({ for: what }: Wait): boolean {
  return what.kind === 'message' && what.task === undefined && what.agent === undefined;
}

function isAskedForAccess(state: State, { id }: Node): boolean {
  for (const request of state.requests.values())
    if (request.owners.get(id) === 'asked' && !state.questions.has(request.id)) return true;
  return false;
}
