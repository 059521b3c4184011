/**
 * Places boxes of any size in layers from left to right, each after what it needs. Pure geometry: it knows
 * nothing of tasks. A line over several layers gets a place in each of them, so that it passes between boxes.
 */

export interface Item {
  id: string;
  width: number;
  height: number;
  /** Ids of other items; unknown ones are ignored. */
  needs: string[];
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  at: Map<string, Point>;
  /** SVG path data. */
  lines: { from: string; to: string; path: string }[];
}

interface Place {
  item: Item | null;
  rank: number;
  height: number;
  y: number;
  before: Place[];
  after: Place[];
}

const GAP_X = 40;
const GAP_Y = 14;
const SWEEPS = 6;

export function layOut(items: Item[]): Layout {
  const ranks = rankOf(items);
  const columns: Place[][] = Array.from({ length: Math.max(0, ...ranks.values()) + 1 }, () => []);
  const places = new Map<string, Place>();
  for (const item of items) {
    const place: Place = {
      item,
      rank: ranks.get(item.id)!,
      height: item.height,
      y: 0,
      before: [],
      after: [],
    };
    places.set(item.id, place);
    columns[place.rank]!.push(place);
  }
  const chains = items.flatMap((item) =>
    item.needs.flatMap((need) => {
      const from = places.get(need);
      return from ? [connect(columns, from, places.get(item.id)!)] : [];
    }),
  );
  orderColumns(columns);
  const height = placeColumns(columns);

  const lefts: number[] = [];
  let x = 0;
  const widths = columns.map((column) => Math.max(0, ...column.map(({ item }) => item?.width ?? 0)));
  for (const width of widths) {
    lefts.push(x);
    x += width + GAP_X;
  }
  const at = new Map<string, Point>();
  for (const [id, { rank, y }] of places) at.set(id, { x: lefts[rank]!, y });
  const lines = chains.map((chain) => ({
    from: chain[0]!.item!.id,
    to: chain.at(-1)!.item!.id,
    path: draw(chain, lefts, widths),
  }));
  return { width: Math.max(0, x - GAP_X), height, at, lines };
}

/** The longest way from an item without needs. */
function rankOf(items: Item[]): Map<string, number> {
  const byId = new Map(items.map((item) => [item.id, item]));
  const ranks = new Map<string, number>();
  const visit = (item: Item): number => {
    const known = ranks.get(item.id);
    if (known !== undefined) return known;
    ranks.set(item.id, 0); // ends a cycle, of which a checked workflow has none
    const needs = item.needs.flatMap((need) => byId.get(need) ?? []);
    const rank = Math.max(-1, ...needs.map(visit)) + 1;
    ranks.set(item.id, rank);
    return rank;
  };
  items.forEach(visit);
  return ranks;
}

function connect(columns: Place[][], from: Place, to: Place): Place[] {
  const chain = [from];
  for (let rank = from.rank + 1; rank < to.rank; rank += 1) {
    const place: Place = { item: null, rank, height: 6, y: 0, before: [], after: [] };
    columns[rank]!.push(place);
    chain.push(place);
  }
  chain.push(to);
  chain.slice(1).forEach((place, index) => {
    place.before.push(chain[index]!);
    chain[index]!.after.push(place);
  });
  return chain;
}

/** Each box goes to the middle of its neighbours, to and fro: few lines cross. */
function orderColumns(columns: Place[][]): void {
  const index = new Map<Place, number>();
  const number = (column: Place[]): void => column.forEach((place, at) => index.set(place, at));
  columns.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? 'before' : 'after';
    for (const column of side === 'before' ? columns : columns.toReversed()) {
      const middle = new Map(
        column.map((place) => [
          place,
          mean(place[side].map((other) => index.get(other)!)) ?? index.get(place)!,
        ]),
      );
      column.sort((a, b) => middle.get(a)! - middle.get(b)!);
      number(column);
    }
  }
}

function placeColumns(columns: Place[][]): number {
  for (const column of columns) stack(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? 'before' : 'after';
    for (const column of side === 'before' ? columns : columns.toReversed()) {
      stack(column, (place) => mean(place[side].map(centre)) ?? centre(place));
    }
  }
  const all = columns.flat();
  const top = Math.min(...all.map(({ y }) => y));
  for (const place of all) place.y -= top;
  return Math.max(0, ...all.map(({ y, height }) => y + height));
}

/** Puts a column's boxes where they want to be, as far as they do not overlap. */
function stack(column: Place[], wanted: (place: Place) => number): void {
  const goals = column.map(wanted);
  let bottom = -Infinity;
  column.forEach((place, index) => {
    place.y = Math.max(goals[index]! - place.height / 2, bottom + GAP_Y);
    bottom = place.y + place.height;
  });
  // Pushed down only: give back half of it on average, so that a column stays around its middle.
  const shift = mean(column.map((place, index) => centre(place) - goals[index]!)) ?? 0;
  for (const place of column) place.y -= shift;
}

function draw(chain: Place[], lefts: number[], widths: number[]): string {
  const first = chain[0]!;
  let path = `M${lefts[first.rank]! + first.item!.width} ${round(centre(first))}`;
  chain.slice(1).forEach((place, index) => {
    const last = chain[index]!;
    const fromX = lefts[last.rank]! + widths[last.rank]!;
    const toX = lefts[place.rank]!;
    const middle = (fromX + toX) / 2;
    const [fromY, toY] = [round(centre(last)), round(centre(place))];
    path += `H${fromX}C${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`;
  });
  return path;
}

function centre({ y, height }: Place): number {
  return y + height / 2;
}

function mean(numbers: number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
