/**
 * What summaries of long texts do to the state. Like the rest of the fold it decides nothing: a task that waits for some
 * is put into `todo` once all of them have ended, however they did.
 */
import type { EventOf } from '../../contract/event.ts';
import { hasEnded, type Node, type State } from '../state.ts';
import { summaryName } from '../views/task-names.ts';
import { summaryKey, summaryTask } from '../workflow/summary.ts';
import { unwant } from './children.ts';
import { move, push } from './moves.ts';
import { makeNode, orderOf, register } from './nodes.ts';

/** After all tasks within, as far as they have a place of their own. */
const FIRST_PLACE = 1_600_000;

export function summarizing(state: State, node: Node, { agent, texts }: EventOf<'task.summarizing'>): void {
  if (texts.length === 0) return; // as before
  move(state, node, 'waiting');
  node.awaits = new Set();
  for (const { hash, by, ...text } of texts) {
    const summary = state.nodes.get(by) ?? addSummary(state, node, { agent, hash, by, text });
    summary.sums!.readers.add(node);
    node.awaits.add(summary);
  }
}

function addSummary(
  state: State,
  reader: Node,
  {
    agent,
    hash,
    by,
    text,
  }: { agent: string; hash: string; by: string; text: NonNullable<Node['sums']>['text'] },
): Node {
  const siblings = new Map<string, Node>();
  const place = reader.summaries?.length ?? 0;
  const node = makeNode({
    id: by,
    label: summaryName(reader.label, by, text.what),
    name: by.slice(reader.id.length + 1),
    task: summaryTask(reader, agent),
    workflow: reader.workflow,
    inputs: reader.inputs,
    parent: reader,
    siblings,
    interfaces: new Map(),
    order: orderOf(reader, FIRST_PLACE + place),
    sums: { text, readers: new Set() },
  });
  register(state, [node], undefined); // the reader waits for it, and does not stand for it
  (reader.summaries ??= []).push(node);
  state.summaries.set(summaryKey(reader, agent, hash), node);
  push(state, node);
  return node;
}

/** It is there, or it will not be; or a task that waited for some has ended, and nobody else wants them. */
export function summaryEnded(state: State, node: Node): void {
  for (const summary of node.awaits ?? []) {
    const { readers } = summary.sums!;
    readers.delete(node);
    if (readers.size === 0) unwant(state, summary);
  }
  delete node.awaits;
  if (!node.sums) return;
  for (const reader of node.sums.readers) {
    reader.awaits?.delete(node);
    if (reader.awaits?.size !== 0) continue;
    delete reader.awaits;
    if (!hasEnded(reader)) push(state, reader);
  }
  node.sums.readers.clear();
}

/** Whoever goes on with the run may have seen to what was in the way. */
export function forgetFailedSummaries(state: State): void {
  for (const [key, { state: how }] of state.summaries)
    if (how === 'failed' || how === 'cancelled') state.summaries.delete(key);
}
