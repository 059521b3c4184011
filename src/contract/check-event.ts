/**
 * Whether a value is an event, by the schemas of events. Each schema is turned once into a plain check that copies
 * nothing: a full parse takes as long as all the rest of reading a journal. The schema itself is asked only about what
 * failed, for the words. It never throws for what a journal may hold, and knows nothing of where that comes from.
 */
import type { z } from 'zod';
import { EVENT_SCHEMAS } from './event-schema.ts';
import type { EventType } from './event.ts';

type Check = (value: unknown) => boolean;
type Fields = Record<string, unknown>;

const checks = new Map<string, Check>();

/** What is wrong with it, in words; undefined where it is an event of the format. */
export function eventProblem(value: unknown, format: number): string | undefined {
  if (!isFields(value) || typeof value.type !== 'string') return 'it has no type';
  const { type } = value;
  let check = checks.get(type);
  if (!check) {
    if (!Object.hasOwn(EVENT_SCHEMAS, type)) return `it is of an unknown type, ${JSON.stringify(type)}`;
    checks.set(type, (check = checkOf(EVENT_SCHEMAS[type as EventType]())));
  }
  // A retry did not say why in format 1.
  const whole = format === 1 && type === 'task.delayed' ? { because: '', ...value } : value;
  if (check(whole)) return undefined;
  const issue = EVENT_SCHEMAS[type as EventType]().safeParse(whole).error?.issues[0];
  return `${type}: ${issue ? `${issue.path.join('.')}: ${issue.message}` : 'it does not have the form of its type'}`;
}

/** Knows the few kinds that the schemas of events are made of. */
function checkOf(schema: z.core.$ZodType): Check {
  const def = definitionOf(schema);
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'number':
      return Number.isFinite; // others have no form in JSON
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'literal': {
      const [only] = def.values;
      return (value) => value === only;
    }
    case 'enum': {
      const values = new Set<unknown>(Object.values(def.entries));
      return (value) => values.has(value);
    }
    case 'nullable': {
      const inner = checkOf(def.innerType);
      return (value) => value === null || inner(value);
    }
    case 'array': {
      const element = checkOf(def.element);
      return (value) => Array.isArray(value) && value.every((item) => element(item));
    }
    case 'object':
      return objectCheck(def.shape);
    case 'union': {
      const byKind = new Map(def.options.map((option) => [kindOf(option), checkOf(option)]));
      return (value) => isFields(value) && (byKind.get(value.kind)?.(value) ?? false);
    }
    case 'custom':
      return (value) => (def as unknown as { fn: Check }).fn(value);
    default:
      throw new Error(`no check for ${def.type}`);
  }
}

/** A loop by number: tens of thousands of events pass here before anything is compiled. */
function objectCheck(shape: z.core.$ZodShape): Check {
  const names = Object.keys(shape);
  const optional: boolean[] = [];
  const inner = names.map((name, n) => {
    const schema = shape[name]!;
    const def = definitionOf(schema);
    optional[n] = def.type === 'optional';
    return checkOf(def.type === 'optional' ? def.innerType : schema);
  });
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    for (let n = 0; n < names.length; n++) {
      const field = (value as Fields)[names[n]!];
      if (field === undefined ? !optional[n] : !inner[n]!(field)) return false;
    }
    return !Array.isArray(value);
  };
}

/** All unions of events are told apart by their `kind`. */
function kindOf(option: z.core.$ZodType): unknown {
  return (option as z.ZodObject<{ kind: z.ZodLiteral }>).shape.kind.def.values[0];
}

type Definition = z.core.$ZodTypes['_zod']['def'];

function definitionOf(schema: z.core.$ZodType): Definition {
  return (schema as unknown as { def: Definition }).def;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
