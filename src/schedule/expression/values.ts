/** JSON to CEL's values and back. It knows nothing of expressions. */
import type { Json } from '../../contract/workflow.ts';

const VALUES_MAX = 200_000;
const CHARS_MAX = 4 * 1024 * 1024;

/** Outputs are never changed once they are in the journal, so that one conversion of each is enough. */
const converted = new WeakMap<object, unknown>();

/** A value that is read when it is looked at. */
export class Later {
  readonly read: () => Json;
  /** No text in it is longer. */
  readonly charsMax: number;

  constructor(read: () => Json, charsMax: number) {
    this.read = read;
    this.charsMax = charsMax;
  }
}

const unread = new WeakMap<object, ReadonlyMap<string, Later>>();

/** Of a value of CEL: its parts that are read only when they are looked at. */
export function unreadParts(value: object): ReadonlyMap<string, Later> | undefined {
  return unread.get(value);
}

/** JSON in which parts are not there yet. */
export type Lazy = Json | Later | Lazy[] | { [key: string]: Lazy };

/**
 * Whole numbers become CEL ints: a JSON number is a double there, and an index or a `% 2` on a double is an
 * error that nobody who reads JSON expects.
 */
export function toCel(value: Lazy | undefined): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Later) return toCel(value.read());
  const known = converted.get(value);
  if (known !== undefined) return known;
  if (!Array.isArray(value) && Object.hasOwn(value, 'constructor')) {
    const map = celMap(Object.entries(value).map(([key, inner]) => [key, toCel(inner)]));
    converted.set(value, map);
    return map;
  }
  const later: [number | string, Later][] = [];
  const convert = (inner: Lazy, key: number | string): unknown => {
    if (!(inner instanceof Later)) return toCel(inner);
    later.push([key, inner]);
    return null;
  };
  const result: object = Array.isArray(value) ? value.map(convert) : convertFields(value, convert);
  if (later.length > 0) unread.set(result, new Map(later.map(([key, inner]) => [String(key), inner])));
  for (const [key, inner] of later)
    Object.defineProperty(result, key, { enumerable: true, get: () => toCel(inner) });
  converted.set(value, result);
  return result;
}

/** One by one: a list of entries on the way takes three times as long. */
function convertFields(
  value: { [key: string]: Lazy },
  convert: (inner: Lazy, key: string) => unknown,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__') Object.defineProperty(result, key, { value: convert(value[key]!, key), ...OWN });
    else result[key] = convert(value[key]!, key);
  }
  return result;
}
const OWN = { enumerable: true, configurable: true, writable: true };

/** A map of CEL. Whatever has a field "constructor" must be a Map: else that would say to CEL what it is. */
export function celMap(fields: readonly [string, unknown][]): object {
  return fields.some(([key]) => key === 'constructor') ? new Map(fields) : Object.fromEntries(fields);
}

/** Throws a TypeError, with a message for people, on what JSON cannot hold. `counted` gets the number of values. */
export function fromCel(value: unknown, counted?: (values: number) => void): Json {
  const left = { values: VALUES_MAX, chars: CHARS_MAX };
  const convert = (inner: unknown): Json => {
    if (--left.values < 0) throw new TypeError(`the result holds more than ${VALUES_MAX} values`);
    if (typeof inner === 'string') {
      left.chars -= inner.length;
      if (left.chars < 0) throw new TypeError(`the result holds more than ${CHARS_MAX} characters`);
      return inner;
    }
    if (inner === null || inner === undefined) return null;
    if (typeof inner === 'boolean') return inner;
    if (typeof inner === 'bigint') return Number(inner);
    if (typeof inner === 'number') {
      if (Number.isFinite(inner)) return inner;
      throw new TypeError(`the result is ${inner}, which is not a JSON number`);
    }
    if (Array.isArray(inner) || inner instanceof Set) return [...inner].map(convert);
    if (inner instanceof Date) return inner.toISOString();
    if (inner instanceof Map) return object([...inner].map(([key, item]) => [String(key), item]));
    const prototype: unknown = Object.getPrototypeOf(inner);
    if (prototype === Object.prototype || prototype === null) return object(Object.entries(inner));
    return other(inner);
  };
  const object = (entries: [string, unknown][]): Json =>
    Object.fromEntries(entries.map(([key, item]) => [key, convert(item)]));
  const other = (inner: object): Json => {
    if ('hasValue' in inner && 'orValue' in inner) {
      return convert((inner as { orValue(none: null): unknown }).orValue(null));
    }
    if (inner.constructor.name === 'UnsignedInteger' || inner.constructor.name === 'UnsignedInt') {
      return Number(inner.valueOf());
    }
    throw new TypeError('the result is not a JSON value; wrap it in string(…)');
  };
  const result = convert(value);
  counted?.(VALUES_MAX - left.values);
  return result;
}

/** "text", "a list", …: what a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`;
  return Array.isArray(value) ? 'a list' : 'a map';
}
