/** Which box is next when an arrow key is struck. Pure geometry. */
import type { GraphBox } from './graph-model.ts';

const ARROWS: Record<string, readonly [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** What lies beside the way counts for more than what lies along it. */
const ASIDE = 2.5;

export function neighbourOf(from: GraphBox, key: string, boxes: readonly GraphBox[]): GraphBox | undefined {
  const arrow = ARROWS[key];
  if (!arrow) return undefined;
  const [dx, dy] = arrow;
  let found: GraphBox | undefined;
  let least = Infinity;
  for (const box of boxes) {
    if (box === from) continue;
    const [x, y] = [middleX(box) - middleX(from), box.y - from.y];
    const [along, aside] = [x * dx + y * dy, Math.abs(x * dy) + Math.abs(y * dx)];
    if (along <= 1) continue;
    const cost = along + ASIDE * aside;
    if (cost >= least) continue;
    least = cost;
    found = box;
  }
  return found;
}

function middleX({ x, width }: GraphBox): number {
  return x + width / 2;
}
