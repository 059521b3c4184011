/**
 * The forms of values that a journal holds, as plain checks with types: a small part of what a schema library does. A
 * resume reads tens of thousands of events and waits for all that has to be loaded first, and a library takes longer
 * than that. It checks and says what is wrong; it never changes or copies a value.
 */

export interface Shape<out T> {
  /** Only for the compiler. */
  readonly of?: T;
  /** Its type, for people: as TypeScript writes it. */
  readonly words: string;
  fits(value: unknown): boolean;
  /** What is wrong with a value that does not fit, and where. */
  problem(value: unknown, at: string): string | undefined;
}

/** Of a field that may be left out. */
export interface OptionalShape<out T> extends Shape<T> {
  readonly isOptional: true;
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Whole<T> = { [K in keyof T]: T[K] };
type OptionalNames<F> = { [K in keyof F]: F[K] extends OptionalShape<unknown> ? K : never }[keyof F];
type ObjectOf<F extends Fields> = Whole<
  { [K in Exclude<keyof F, OptionalNames<F>>]: ShapeOf<F[K]> } & {
    [K in OptionalNames<F>]?: ShapeOf<F[K]>;
  }
>;
export type ShapeOf<S> = S extends Shape<infer T> ? T : never;

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

export const text: Shape<string> = plain('text', 'string', (value) => typeof value === 'string');
/** Others than finite ones have no form in JSON. */
export const count: Shape<number> = plain('a number', 'number', Number.isFinite);
export const flag: Shape<boolean> = plain('true or false', 'boolean', (value) => typeof value === 'boolean');

export function literal<const T extends string | number | boolean>(only: T): Shape<T> {
  return plain(JSON.stringify(only), JSON.stringify(only), (value) => value === only);
}

export function oneOf<const T extends readonly string[]>(choices: T): Shape<T[number]> {
  const all = new Set<unknown>(choices);
  const words = choices.map((choice) => JSON.stringify(choice)).join(' | ');
  return plain(`one of ${choices.join(', ')}`, words, (value) => all.has(value));
}

export function custom<T>(what: string, fits: (value: unknown) => boolean): Shape<T> {
  return plain(what, what === 'a map' ? 'object' : 'JSON', fits);
}

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, isOptional: true };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    words: `${shape.words} | null`,
    fits: (value) => value === null || shape.fits(value),
    problem: (value, at) => (value === null ? undefined : shape.problem(value, at)),
  };
}

export function list<T>(item: Shape<T>): Shape<T[]> {
  return {
    words:
      item.words.includes(' | ') && !item.words.startsWith('{') ? `(${item.words})[]` : `${item.words}[]`,
    fits: (value) => Array.isArray(value) && value.every((each) => item.fits(each)),
    problem(value, at) {
      if (!Array.isArray(value)) return expected('a list', at);
      const wrong = value.findIndex((each) => !item.fits(each));
      return wrong === -1 ? undefined : item.problem(value[wrong], `${at}.${wrong}`);
    },
  };
}

/** Fields that it does not name are left to whoever comes later. */
export function object<const F extends Fields>(fields: F): ObjectShape<F> {
  const names = Object.keys(fields);
  const shapes = names.map((name) => fields[name]!);
  const isOptional = shapes.map((shape) => 'isOptional' in shape);
  return {
    fields,
    get words() {
      const each = names.map((name, n) => `${name}${isOptional[n] ? '?' : ''}: ${shapes[n]!.words}`);
      return `{ ${each.join('; ')} }`;
    },
    // A loop by number: tens of thousands of events pass here before anything is compiled.
    fits(value) {
      if (!isMap(value)) return false;
      for (let n = 0; n < names.length; n++) {
        const field = value[names[n]!];
        if (field === undefined ? !isOptional[n] : !shapes[n]!.fits(field)) return false;
      }
      return true;
    },
    problem(value, at) {
      if (!isMap(value)) return expected('a map', at);
      for (const [n, name] of names.entries()) {
        const where = at === '' ? name : `${at}.${name}`;
        const field = value[name];
        if (field === undefined && isOptional[n]) continue;
        if (!shapes[n]!.fits(field)) return shapes[n]!.problem(field, where);
      }
      return undefined;
    },
  };
}

type Kinds = readonly ObjectShape<Fields & { kind: Shape<string> }>[];

/** Maps that are told apart by their `kind`. */
export function byKind<const K extends Kinds>(kinds: K): Shape<ShapeOf<K[number]>> {
  const find = (value: unknown): Shape<unknown> | undefined =>
    isMap(value) ? kinds.find(({ fields }) => fields.kind.fits(value.kind)) : undefined;
  return {
    get words() {
      return kinds.map((kind) => kind.words).join(' | ');
    },
    fits: (value) => find(value)?.fits(value) ?? false,
    problem: (value, at) => {
      const kind = find(value);
      return kind ? kind.problem(value, at) : expected('a map with a known kind', at);
    },
  };
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plain<T>(what: string, words: string, fits: (value: unknown) => boolean): Shape<T> {
  return { words, fits, problem: (value, at) => (fits(value) ? undefined : expected(what, at)) };
}

function expected(what: string, at: string): string {
  return `${at === '' ? 'it' : at} must be ${what}`;
}
