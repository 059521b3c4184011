/** Whether a value is an event, by the schemas of events. It never throws for what a journal may hold. */
import { EVENT_SCHEMAS } from './event-schema.ts';
import type { EventType } from './event.ts';
import { isMap, type Shape } from './shapes.ts';

const made = new Map<string, Shape<unknown>>();

/** The first of them that is no type of event. */
export function unknownType(types: readonly string[]): string | undefined {
  return types.find((type) => !Object.hasOwn(EVENT_SCHEMAS, type));
}

/** What is wrong with it, in words; undefined where it is an event of the format. */
export function eventProblem(value: unknown, format: number): string | undefined {
  if (!isMap(value) || typeof value.type !== 'string') return 'it has no type';
  const { type } = value;
  let schema = made.get(type);
  if (!schema) {
    if (!Object.hasOwn(EVENT_SCHEMAS, type)) return `it is of an unknown type, ${JSON.stringify(type)}`;
    made.set(type, (schema = EVENT_SCHEMAS[type as EventType]()));
  }
  // A retry did not say why in format 1.
  const whole = format === 1 && type === 'task.delayed' ? { because: '', ...value } : value;
  if (schema.fits(whole)) return undefined;
  return `${type}: ${schema.problem(whole, '') ?? 'it does not have the form of its type'}`;
}
