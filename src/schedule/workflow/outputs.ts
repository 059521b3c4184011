/** What tasks gave. Large values are read when an expression asks for them, and not held by the state. Pure. */
import type { ValueRef } from '../../contract/event.ts';
import type { Json } from '../../contract/workflow.ts';
import { Later, type Lazy } from '../expression/values.ts';
import type { Node, State } from '../state.ts';

/** What one expression, or all those of one text, may read of large outputs. */
const READ_BYTES_MAX = 64 * 1024 * 1024;
/** Beyond this a group has no output of its own in the journal: it is what the tasks within gave. */
const GROUP_BYTES_MAX = 1024 * 1024;

/** Reads what one expression asks for, up to the limit. */
export function outputReader(state: State): (node: Node) => Lazy {
  let leftBytes = READ_BYTES_MAX;
  const later = (ref: ValueRef): Later =>
    new Later(() => {
      leftBytes -= ref.bytes;
      if (leftBytes < 0)
        throw new Error(
          `it reads more than ${READ_BYTES_MAX / 1024 / 1024} MB of outputs; let tasks give shorter ones, or write to files`,
        );
      return state.read(ref);
    }, ref.bytes);
  const outputOf = (node: Node): Lazy => {
    if (node.kind === 'for-each') return node.children.map(outputOf);
    if (node.outputRef) return later(node.outputRef);
    if (node.output !== undefined || node.children.length === 0) return node.output ?? null;
    return Object.fromEntries(node.children.map((child) => [child.name, outputOf(child)]));
  };
  return outputOf;
}

/** A list for the items of a for-each, a map by name for the tasks of a workflow or an expansion. */
export function groupOutput(state: State, node: Node): Json | undefined {
  let bytes = 0;
  for (const child of node.children) if ((bytes += sizeOf(child)) > GROUP_BYTES_MAX) return undefined;
  const outputOf = (child: Node): Json =>
    child.outputRef ? state.read(child.outputRef) : (child.output ?? null);
  if (node.kind === 'for-each') return node.children.map(outputOf);
  return Object.fromEntries(node.children.map((child) => [child.name, outputOf(child)]));
}

function sizeOf(node: Node): number {
  if (node.outputRef) return node.outputRef.bytes;
  if (node.output === undefined) return node.children.length > 0 && node.state === 'done' ? Infinity : 4;
  return JSON.stringify(node.output).length + 1;
}
