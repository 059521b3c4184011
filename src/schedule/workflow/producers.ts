/** Whose work a task may read: that of what it needs, of what the tasks around it need, and of the tasks within it. Pure. */
import { hasEnded, type Node } from '../state.ts';

/** Far more than anybody reads. */
const PRODUCERS_MAX = 10_000;

/** The nearest first; of one that stands for others, those within it come after it. */
export function producersOf(node: Node): Node[] {
  const found = new Set<Node>();
  const add = (one: Node): void => {
    if (found.size >= PRODUCERS_MAX || !hasEnded(one)) return;
    found.add(one);
    for (const child of one.children) add(child);
  };
  for (let at: Node | undefined = node; at; at = at.parent) for (const need of at.needs) add(need);
  for (const child of node.children) add(child);
  found.delete(node);
  return [...found];
}
