/**
 * Whom a message is for: the tasks that the sender's word stands for, and whose inboxes these are. Pure; what becomes of
 * the message is decided elsewhere.
 */
import { didYouMean } from '../../base/suggest.ts';
import type { MessageRefusal } from '../../contract/message.ts';
import { hasEnded, type Message, type Node, type State } from '../state.ts';
import { agentOf } from './agent-of.ts';

const NAMES_SHOWN_MAX = 20;
const WORD_CHARS_MAX = 100;

export type Addressees = { inboxes: Node[] } | { why: MessageRefusal; text: string };

/** A word for many comes first, then a task, then an agent; `task:` and `agent:` before a name say which of them is meant. */
export function addresseesOf(state: State, sender: Node, to: string): Addressees {
  if (to === 'all') return orNobody(inboxesWithin(state.top.values(), { except: sender }), 'nobody else');
  if (to === 'children') return orNobody(inboxesWithin(sender.children, {}), 'no task within yours');
  if (to === 'parent') return parentOf(sender);
  const task = to.startsWith('agent:') ? undefined : findTask(state, to.replace(/^task:/, ''));
  if (task) return ofTask(sender, task);
  const agent = to.startsWith('task:') ? undefined : to.replace(/^agent:/, '');
  if (agent !== undefined && isAgent(state, agent)) {
    const inboxes = inboxesWithin(state.top.values(), { except: sender, agent });
    return orNobody(inboxes, `no other task of agent ${agent}`);
  }
  return { why: 'unknown', text: tellUnknown(state, sender, to, ['all', 'children', 'parent']) };
}

/** Where a message that such a task keeps can go now; only itself where nobody is there for it yet. */
export function inboxesOf(state: State, keeper: Node, { task, to }: Pick<Message, 'task' | 'to'>): Node[] {
  const name = to.replace(/^(task|agent):/, '');
  const isTask = !to.startsWith('agent:') && findTask(state, name) !== undefined;
  const agent = !isTask && isAgent(state, name) ? name : undefined;
  return inboxesWithin([keeper], { except: state.nodes.get(task), agent });
}

/** By its id, or by what people call it. */
export function findTask(state: State, name: string): Node | undefined {
  const byId = state.nodes.get(name);
  if (byId) return byId;
  for (const node of state.nodes.values()) if (node.label === name) return node;
  return undefined;
}

/** It can be read: by an agent or a command of its own, or by those of the tasks that it will stand for. */
function inboxesWithin(
  nodes: Iterable<Node>,
  only: { except?: Node | undefined; agent?: string | undefined },
): Node[] {
  const found: Node[] = [];
  for (const node of nodes) {
    if (hasEnded(node) || node.kind === 'approve') continue;
    if (isReader(node)) {
      if (node !== only.except && isOfAgent(node, only.agent)) found.push(node);
      found.push(...inboxesWithin(node.children, only)); // those that it asked for
      continue;
    }
    const within = inboxesWithin(node.children, only);
    // One that settles the conflicts of those within it may be who asks.
    const isKept = within.length === 0 && node !== only.except && mayBring(node, only.agent);
    found.push(...(isKept ? [node] : within));
  }
  return found;
}

/** Has an inbox of its own, which an attempt reads. */
export function isReader({ kind, state }: Node): boolean {
  return kind === 'work' && state !== 'expanded';
}

/** Whether tasks are still to come within it that could read. */
function mayBring(node: Node, agent: string | undefined): boolean {
  const isOpen = node.state !== 'expanded' || node.kind === 'handoff' || node.kind === 'continuous';
  return isOpen && isOfAgent(node, agent);
}

function isOfAgent(node: Node, agent: string | undefined): boolean {
  if (agent === undefined) return true;
  return node.task.handoff?.includes(agent) ?? agentOf(node, 'work')?.name === agent;
}

/** The nearest task around it that has an agent of its own. */
function parentOf(sender: Node): Addressees {
  let { parent } = sender;
  while (parent && parent.kind !== 'work') parent = parent.parent;
  if (!parent) return { why: 'nobody', text: 'your task has no parent' };
  if (hasEnded(parent) || !isReader(parent))
    return {
      why: 'ended',
      text: `your parent, ${parent.label}, has done its own work and reads no messages`,
    };
  return { inboxes: [parent] };
}

function ofTask(sender: Node, task: Node): Addressees {
  if (task === sender) return { why: 'self', text: `${task.label} is your own task` };
  if (hasEnded(task)) return { why: 'ended', text: `${task.label} has ended (${task.state})` };
  if (task.kind === 'approve')
    return { why: 'nobody', text: `${task.label} asks a person, and reads no messages` };
  return orNobody(inboxesWithin([task], { except: sender }), `no task within ${task.label}`);
}

function orNobody(inboxes: Node[], whom: string): Addressees {
  return inboxes.length > 0 ? { inboxes } : { why: 'nobody', text: `${whom} is left to read it` };
}

export function isAgent(state: State, name: string): boolean {
  return agentNames(state).has(name);
}

function agentNames(state: State): Set<string> {
  const names = new Set(Object.keys(state.workflow.agents));
  for (const { name } of nestedAgents(state)) names.add(name);
  return names;
}

function* nestedAgents({ workflow }: State): Generator<{ name: string }> {
  for (const nested of Object.values(workflow.nested ?? {}))
    for (const name of Object.keys(nested.agents)) yield { name };
}

/** That there is nobody of that name, and who there is; `words` are those that stand for others. */
export function tellUnknown(state: State, sender: Node, to: string, words: readonly string[] = []): string {
  const tasks = inboxesWithin(state.top.values(), { except: sender }).map(({ label }) => label);
  const agents = [...agentNames(state)];
  const shown = tasks.slice(0, NAMES_SHOWN_MAX).join(', ');
  const more = tasks.length > NAMES_SHOWN_MAX ? ` and ${tasks.length - NAMES_SHOWN_MAX} more` : '';
  const parts = [
    `tasks: ${shown || 'none that is left to read it'}${more}`,
    ...(agents.length > 0 ? [`agents: ${agents.slice(0, NAMES_SHOWN_MAX).join(', ')}`] : []),
    ...(words.length > 0 ? [`or ${words.join(', ')}`] : []),
  ];
  const name = to.slice(0, WORD_CHARS_MAX);
  const near = didYouMean(name, [...tasks, ...agents, ...words]);
  return `there is no task or agent ${JSON.stringify(name)}${near}; ${parts.join('; ')}`;
}
