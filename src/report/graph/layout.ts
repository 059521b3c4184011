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
  lines: Line[];
}

/** From one box to another, through the places it has in the layers between. */
export interface Line {
  from: string;
  to: string;
  /** The first is where it leaves a box, the last where it arrives. */
  stops: { enterX: number; exitX: number; y: number }[];
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
/** Beyond so many places in between, long lines go straight on: boxes without end need no lines between them. */
const PLACES_MAX = 200_000;
const SHORT_RANKS = 8;

export function layOut(items: Item[]): Layout {
  const ranks = rankOf(items);
  const columns: Place[][] = Array.from({ length: largest(ranks.values()) + 1 }, () => []);
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
  const pairs = items.flatMap((item) =>
    item.needs.flatMap((need) => {
      const from = places.get(need);
      return from ? [{ from, to: places.get(item.id)! }] : [];
    }),
  );
  const between = pairs.reduce((sum, { from, to }) => sum + Math.max(0, to.rank - from.rank - 1), 0);
  const ranksMax = between > PLACES_MAX ? SHORT_RANKS : Infinity;
  const chains = pairs.map(({ from, to }) => connect(columns, from, to, ranksMax));
  orderColumns(columns);
  const height = placeColumns(columns);

  const lefts: number[] = [];
  let x = 0;
  const widths = columns.map((column) => largest(column.map(({ item }) => item?.width ?? 0)));
  for (const width of widths) {
    lefts.push(x);
    x += width + GAP_X;
  }
  const at = new Map<string, Point>();
  for (const [id, { rank, y }] of places) at.set(id, { x: lefts[rank]!, y });
  const lines = chains.map((chain) => ({
    from: chain[0]!.item!.id,
    to: chain.at(-1)!.item!.id,
    stops: chain.map((place, index) => ({
      enterX: lefts[place.rank]! + (index === 0 ? place.item!.width : 0),
      exitX: lefts[place.rank]! + widths[place.rank]!,
      y: round(centre(place)),
    })),
  }));
  return { width: Math.max(0, x - GAP_X), height, at, lines };
}

/** The longest way from an item without needs. By rounds, not by recursion: a chain may be ten thousand long. */
function rankOf(items: Item[]): Map<string, number> {
  const ids = new Set(items.map(({ id }) => id));
  const followers = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const { id, needs } of items) {
    const known = needs.filter((need) => ids.has(need));
    open.set(id, known.length);
    for (const need of known) {
      const others = followers.get(need);
      if (others) others.push(id);
      else followers.set(need, [id]);
    }
  }
  const ranks = new Map<string, number>();
  let round = items.filter(({ id }) => open.get(id) === 0).map(({ id }) => id);
  for (let rank = 0; round.length > 0; rank += 1) {
    const next: string[] = [];
    for (const id of round) {
      ranks.set(id, rank);
      for (const follower of followers.get(id) ?? []) {
        const left = open.get(follower)! - 1;
        open.set(follower, left);
        if (left === 0) next.push(follower);
      }
    }
    round = next;
  }
  // What is left is a cycle, of which a checked workflow has none.
  for (const { id } of items) if (!ranks.has(id)) ranks.set(id, 0);
  return ranks;
}

function connect(columns: Place[][], from: Place, to: Place, ranksMax: number): Place[] {
  const chain = [from];
  const last = to.rank - from.rank > ranksMax ? from.rank : to.rank - 1;
  for (let rank = from.rank + 1; rank <= last; rank += 1) {
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
  const top = all.reduce((least, { y }) => Math.min(least, y), Infinity);
  for (const place of all) place.y -= top;
  return largest(all.map(({ y, height }) => y + height));
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

/** As SVG path data. */
export function pathOf({ stops }: Line): string {
  let path = `M${stops[0]!.enterX} ${stops[0]!.y}`;
  for (const [index, { enterX, y }] of stops.entries()) {
    if (index === 0) continue;
    const { exitX, y: fromY } = stops[index - 1]!;
    const middle = (exitX + enterX) / 2;
    path += `H${exitX}C${middle} ${fromY} ${middle} ${y} ${enterX} ${y}`;
  }
  return path;
}

function largest(numbers: Iterable<number>): number {
  let found = 0;
  for (const number of numbers) found = Math.max(found, number);
  return found;
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
