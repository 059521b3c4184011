/** What a route takes: the input of its operation, without what its address says or what makes no sense over HTTP. */
import type { InputSchema } from '../../contract/input-schema.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { HttpRoute } from './routes.ts';

/** The names in braces. */
export function addressedBy({ path }: HttpRoute): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** Of the body, or of the query where there is none. */
export function givenSchema(route: HttpRoute): InputSchema {
  const schema: InputSchema = OPERATIONS[route.operation].input;
  const not = new Set([...addressedBy(route), ...Object.keys(route.fixed ?? {}), ...(route.without ?? [])]);
  const properties = {
    ...Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !not.has(name))),
    ...route.also,
  };
  const isGiven = (name: string): boolean => Object.hasOwn(properties, name);
  const dependent = Object.entries(schema.dependentRequired ?? {}).flatMap(([name, needed]) => {
    const left = needed.filter(isGiven);
    return isGiven(name) && left.length > 0 ? [[name, left] as const] : [];
  });
  return {
    type: 'object',
    properties,
    required: [
      ...(schema.required ?? []).filter(isGiven),
      ...(route.fromRoot === undefined ? [] : [route.fromRoot]),
    ],
    ...(dependent.length > 0 && { dependentRequired: Object.fromEntries(dependent) }),
    either: (schema.either ?? []).filter((pair) => pair.every(isGiven)),
  };
}

export function hasBody({ method }: Pick<HttpRoute, 'method'>): boolean {
  return method === 'POST' || method === 'PUT';
}
