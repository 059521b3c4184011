/** Parsed YAML as plain data, with its merge keys filled in. Duplicate keys, circles and bombs end here. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Alias,
  type LineCounter,
  type Node,
  type Scalar,
} from 'yaml';

export type ReportProblem = (from: number, to: number, message: string) => void;

/** What an anchor stands for; several places share it, and nobody changes it. */
interface Copy {
  value: unknown;
  values: number;
  levels: number;
}

const VALUES_MAX = 1_000_000;
const DEPTH_MAX = 100;

/** What aliases can do is bounded by the number of values that they make: those of an anchor count each time. */
export function toData(root: unknown, report: ReportProblem, lineCounter: LineCounter): unknown {
  let left = VALUES_MAX;
  let deepest = 0;
  const copies = new Map<Node, Copy>();
  /** The alias that is being copied out; what is wrong within was told where it is written. */
  let copying: Alias | undefined;
  const open = new Set<Node>();
  // The library finds an alias's target by a walk through the whole document, for each alias anew.
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();

  const tell = (node: Node, message: string): void => {
    if (!copying) report(node.range?.[0] ?? 0, node.range?.[1] ?? 0, message);
  };
  const stop = (node: Node, message: string): undefined => {
    copying = undefined;
    if (left !== -Infinity) tell(node, message);
    left = -Infinity; // one message is enough, and nothing more is read
    return undefined;
  };
  const tooMany = (node: Node): undefined => {
    const what = isAlias(node) ? 'with all its aliases, this makes' : 'the file has';
    return stop(node, `${what} more than ${VALUES_MAX} values; write fewer`);
  };
  const tooDeep = (node: Node): undefined =>
    stop(node, `this is nested more than ${DEPTH_MAX} levels deep; make it flatter`);
  const resolve = (alias: Alias): Node | undefined => {
    const target = targets.get(alias) ?? anchors.get(alias.source);
    if (target) targets.set(alias, target);
    return target;
  };

  const convert = (node: unknown, depth: number): unknown => {
    if (!isNode(node)) return null;
    if (--left < 0) return tooMany(copying ?? node);
    deepest = Math.max(deepest, depth);
    if (isAlias(node)) return convertAlias(node, depth);
    if (node.anchor !== undefined && !copying) anchors.set(node.anchor, node);
    if (isScalar(node)) return typeof node.value === 'bigint' ? Number(node.value) : node.value;
    if (depth > DEPTH_MAX) return tooDeep(node);
    open.add(node);
    const result = isSeq(node) ? node.items.map((item) => convert(item, depth + 1)) : convertMap(node, depth);
    open.delete(node);
    return result;
  };

  const convertAlias = (alias: Alias, depth: number): unknown => {
    const target = resolve(alias);
    if (!target) {
      return stop(alias, `there is no anchor "&${alias.source}" above; define it or write the value here`);
    }
    if (open.has(target)) {
      return stop(alias, `the alias "*${alias.source}" refers to a value that it is part of; remove it`);
    }
    const copy = copies.get(target);
    if (!copy) return makeCopy(alias, target, depth);
    if (depth + copy.levels > DEPTH_MAX) return tooDeep(copying ?? alias);
    left -= copy.values;
    return left < 0 ? tooMany(copying ?? alias) : copy.value;
  };

  /** Made once and counted each time: so a bomb costs no more time than its text. */
  const makeCopy = (alias: Alias, target: Node, depth: number): unknown => {
    const isOutermost = copying === undefined;
    copying ??= alias;
    const [leftBefore, deepestBefore] = [left, deepest];
    deepest = depth;
    const value = convert(target, depth + 1);
    copies.set(target, { value, values: leftBefore - left, levels: deepest - depth });
    deepest = Math.max(deepest, deepestBefore);
    if (isOutermost) copying = undefined;
    return value;
  };

  const convertMap = (node: Node, depth: number): object => {
    const seen = new Map<string, Node>();
    const entries: [string, unknown][] = [];
    const merged = new Map<string, unknown>();
    for (const pair of isMap(node) ? node.items : []) {
      const place = isNode(pair.key) ? pair.key : node;
      if (isScalar(pair.key) && pair.key.anchor !== undefined && !copying)
        anchors.set(pair.key.anchor, pair.key);
      const keyNode = isAlias(pair.key) ? resolve(pair.key) : pair.key;
      if (!isScalar(keyNode) || keyNode.value === null) {
        tell(place, 'the name of a field must be text');
        continue;
      }
      const key = scalarText(keyNode);
      const first = seen.get(key);
      if (first) {
        const { line, col } = lineCounter.linePos(first.range?.[0] ?? 0);
        tell(place, `"${key}" is here a second time, first at ${line}:${col}; remove one of them`);
      }
      seen.set(key, place);
      if (key === '__proto__') tell(place, 'a field cannot be named "__proto__"; choose another name');
      const value = convert(pair.value, depth + 1);
      if (isMergeKey(pair.key)) mergeInto(merged, value, place);
      else entries.push([key, value]);
    }
    return Object.fromEntries([...merged, ...entries]);
  };

  /** The first of several maps wins, and the fields beside the key win over all of them. */
  const mergeInto = (merged: Map<string, unknown>, value: unknown, place: Node): void => {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof each !== 'object' || each === null || Array.isArray(each)) {
        if (left >= 0) tell(place, '"<<" takes a map or a list of maps, such as "<<: *name"');
        return;
      }
      for (const [key, inner] of Object.entries(each)) if (!merged.has(key)) merged.set(key, inner);
    }
  };

  return convert(root, 0);
}

/** `<<` as it is, without quotes: the fields of other maps are taken over. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

/** Names of fields are text, also where YAML reads a number or a boolean. */
export function scalarText(scalar: Scalar): string {
  return `${scalar.value as string | number | boolean}`;
}
