/** The OpenAPI document of the HTTP door, made of its routes and the table of operations: nothing in it is written twice. */
import { NO_SPACE } from './problem.ts';
import { z } from 'zod';
import { ERRORS_OF_ALL, OPERATIONS } from '../../contract/operations.ts';
import type { Field, InputSchema } from '../../contract/input-schema.ts';
import type { Operation } from '../../contract/operation.ts';
import * as outputs from '../../contract/outputs.ts';
import { ERRORS, type ErrorCode } from '../../contract/errors.ts';
import { roleFor } from './door.ts';
import { OWN_PATHS } from './own.ts';
import { addressedBy, givenSchema, hasBody } from './route-input.ts';
import { ROUTES, type HttpRoute } from './routes.ts';

type Schema = Record<string, unknown>;
type Parts = Record<string, unknown>;

export function openApi(version: string): Parts {
  const paths: Record<string, Parts> = {};
  for (const route of ROUTES) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  for (const { method = 'GET', path, about, type, isOpen } of OWN_PATHS)
    (paths[path] ??= {})[method.toLowerCase()] = ownOperation(method, path, about, type, isOpen);
  return {
    openapi: '3.1.1',
    info: {
      title: 'bosun',
      version,
      description: 'Runs crews of coding agents on git repositories of this machine.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:7420' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Made with: bosun token add <name> --role run',
        },
      },
      schemas: schemas(),
      responses: {
        Problem: {
          description: 'What went wrong, and what to do.',
          content: { 'application/problem+json': { schema: reference('Problem') } },
        },
      },
    },
  };
}

function operationOf(route: HttpRoute): Parts {
  const { output, errors, changes }: Operation = OPERATIONS[route.operation];
  const given = givenSchema(route);
  const parameters = [
    ...addressedBy(route).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...(hasBody(route) ? [] : queryOf(given)),
    ...(route.gives === 'events' ? [lastEventId] : []),
    ...(typeof route.starts === 'string' ? [idempotencyKey] : []),
  ];
  return {
    operationId: operationId(route),
    summary: route.about,
    description: `Needs the role ${roleFor(route)}.${changes ? '' : ' Changes nothing.'}`,
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody(route) && {
      requestBody: {
        required: (given.required ?? []).length > 0,
        content: { 'application/json': { schema: bodyOf(given, route) } },
      },
    }),
    responses: {
      [route.status ?? 200]: {
        description: 'Done.',
        ...(route.page && { headers: { Link: nextPage } }),
        content: contentOf(route, output),
      },
      ...problemsOf(errors),
    },
  };
}

/** Addresses that ask for the same operation are told apart by what they give. */
function operationId({ operation, gives, fixed, path }: HttpRoute): string {
  if (gives === 'log' || gives === 'patch') return gives;
  if (gives === 'events') return path.includes('{run}') ? 'runEvents' : 'repositoryEvents';
  return fixed?.stat ? 'changes' : operation;
}

function contentOf(route: HttpRoute, output: string): Parts {
  switch (route.gives) {
    case 'patch':
      return { 'text/x-diff': { schema: { type: 'string' } } };
    case 'file':
      return { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    case 'log':
      return { 'application/x-ndjson': { schema: { type: 'string' } } };
    case 'events':
      return {
        'application/json': { schema: reference('EventPage') },
        'text/event-stream': { schema: { type: 'string' } },
      };
    default:
      return {
        'application/json': {
          schema: reference(route.starts && route.starts !== 'execution' ? 'Started' : output),
        },
      };
  }
}

function bodyOf(
  { properties, required = [], dependentRequired, either = [] }: InputSchema,
  route: HttpRoute,
): Schema {
  const described = Object.entries(properties).map(([name, field]) => {
    const isForAdmins = route.adminFields?.includes(name);
    return [name, { ...plain(field), ...(isForAdmins && { description: 'Needs the role admin.' }) }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(described) as Schema,
    ...(required.length > 0 && { required }),
    ...(dependentRequired && { dependentRequired }),
    ...(either.length > 0 && { allOf: either.map((pair) => ({ not: { required: pair } })) }),
    additionalProperties: false,
  };
}

function queryOf({ properties, required }: InputSchema): Parts[] {
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    schema: plain(field),
  }));
}

/** Without our words for people. */
function plain(field: Field): Schema {
  const { must: _, ...schema } = field as Field & { as?: unknown };
  return field.type === 'array' ? { ...schema, items: plain(field.items) } : { ...schema };
}

function problemsOf(errors: readonly ErrorCode[]): Parts {
  const own = [...errors, ...ERRORS_OF_ALL].map((code) => ERRORS[code].http);
  const statuses = new Set([...own, 401, 403, 404, 413, 415, 421, 429, 503, NO_SPACE]);
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [status, { $ref: '#/components/responses/Problem' }]),
  );
}

const METHOD_WORDS: Record<string, string> = { GET: '', POST: 'open', DELETE: 'end' };

function ownOperation(method: string, path: string, about: string, type: string, isOpen: boolean): Parts {
  const name = path
    .split('/')
    .at(-1)!
    .replace('.json', '')
    .replace(/^events$/, 'allEvents');
  const word = METHOD_WORDS[method]!;
  return {
    operationId: word === '' ? name : `${word}${name[0]!.toUpperCase()}${name.slice(1)}`,
    summary: about,
    ...(isOpen && { security: [] }),
    ...(type === 'text/event-stream' && { parameters: [lastEventId] }),
    responses: {
      200: {
        description: 'Done.',
        content: {
          [type]: { schema: type === 'application/json' ? { type: 'object' } : { type: 'string' } },
        },
      },
      ...problemsOf([]),
    },
  };
}

const nextPage = {
  description: 'Of a full page: the address of the next one, with rel="next".',
  schema: { type: 'string' },
};

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Goes on behind this event; a browser sends it by itself.',
  schema: { type: 'string' },
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Sent again with the same key, the request gives what it gave before; another one with it is refused.',
  schema: { type: 'string', maxLength: 255 },
};

function schemas(): Record<string, Schema> {
  const used = new Set<string>(ROUTES.map(({ operation }) => OPERATIONS[operation].output));
  const all: Record<string, z.ZodType> = { ...outputs };
  const made = [...used].toSorted().map((name) => {
    const { $schema: _, ...schema } = z.toJSONSchema(all[name]!, { unrepresentable: 'any' });
    return [name, schema] as const;
  });
  const { $schema: _, ...events } = z.toJSONSchema(outputs.FollowedEvents, { unrepresentable: 'any' });
  return {
    ...Object.fromEntries(made),
    EventPage: {
      type: 'object',
      properties: { events, next: { type: 'string' } },
      required: ['events', 'next'],
    },
    Started: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The run.' },
        task: { type: 'string' },
        notes: { type: 'array', items: { type: 'string' } },
      },
      required: ['id'],
    },
    Problem: {
      type: 'object',
      properties: {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        code: { enum: Object.keys(ERRORS) },
        detail: { type: 'string' },
        output: { type: 'string', description: 'What a check that failed printed, at its end.' },
        answered: {
          type: 'object',
          description: 'Of a question that was answered already: what counted, and who said it.',
          properties: { answer: { type: 'string' }, by: { type: 'string' } },
          required: ['answer', 'by'],
        },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
            required: ['pointer', 'detail'],
          },
        },
      },
      required: ['type', 'status', 'code', 'detail'],
    },
  };
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
