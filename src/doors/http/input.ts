/** From a request to the input of an operation: address, query and body → fields, held against the table. */
import path from 'node:path';
import { parseJson, shapeOf, JSON_MOST, keysIn } from '../../base/parse-json.ts';
import { inputProblem, tellProblem, type Field, type InputSchema } from '../../contract/input-schema.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { Json } from '../../contract/workflow.ts';
import type { Call } from './call.ts';
import { HttpProblem } from './problem.ts';
import { givenSchema, hasBody } from './route-input.ts';
import type { HttpRoute } from './routes.ts';

/** A prompt may have a million characters, and a workflow several of them. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Input = Record<string, unknown>;

/** `values` are those of the address. */
export async function readInput(
  route: HttpRoute,
  values: Record<string, string>,
  call: Call,
): Promise<Input> {
  const schema = givenSchema(route);
  if (hasBody(route) && call.query.size > 0) throw problemAt('', 'this address takes no query');
  const given = hasBody(route) ? await readBody(call) : readQuery(schema, call.query);
  const problem = inputProblem(schema, given);
  if (problem) throw problemAt(pointerOf(route, problem.field), tellProblem(problem));
  const { fromRoot } = route;
  if (fromRoot !== undefined && !path.isAbsolute(String(given[fromRoot])))
    throw problemAt(
      pointerOf(route, fromRoot),
      `${fromRoot} must be a path from the root, such as /home/anna/shop`,
    );
  const { properties }: InputSchema = OPERATIONS[route.operation].input;
  const addressed = Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      Object.hasOwn(properties, name) ? [[name, read(properties[name], value)]] : [],
    ),
  );
  const wrong = inputProblem({ type: 'object', properties }, addressed);
  if (wrong) throw problemAt(wrong.field ?? '', tellProblem(wrong));
  return { ...given, ...addressed, ...route.fixed };
}

/** Nothing at all stands for an empty object. */
async function readBody(call: Call): Promise<Record<string, Json>> {
  const bytes = await call.body(BODY_BYTES_MAX);
  const type = call.headers['content-type']?.split(';')[0]!.trim().toLowerCase();
  if (bytes.length === 0) return {};
  if (type !== 'application/json')
    throw new HttpProblem(415, 'usage', 'the body must be JSON: send Content-Type: application/json');
  return parseObject(bytes);
}

function parseObject(bytes: Buffer): Record<string, Json> {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw problemAt('', 'the body is not UTF-8');
  }
  const shape = shapeOf(text);
  if (shape.isTooMuch) throw problemAt('', `the body has more than bosun reads: at most ${JSON_MOST}`);
  const value = parseJson(text, shape);
  if (value === undefined) throw problemAt('', 'the body is not JSON');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw problemAt('', 'the body must be a JSON object');
  if (keysIn(value) !== shape.keys) throw problemAt('', 'the body has a key twice in one object');
  return value;
}

function readQuery({ properties }: InputSchema, query: URLSearchParams): Input {
  const input: Input = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field?.type === 'array') input[name] = values;
    else if (values.length > 1) throw problemAt(name, `${name.slice(0, 100)} is given twice`);
    else Object.defineProperty(input, name, { value: read(field, values[0]!), enumerable: true });
  }
  return input;
}

/** What does not look like what it must be stays as it is, and is refused. */
function read(field: Field | undefined, text: string): unknown {
  switch (field?.type) {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return text;
  }
}

/** A pointer into the body, or the name of a parameter. */
function pointerOf(route: HttpRoute, field: string | undefined): string {
  if (field === undefined) return '';
  const name = field.slice(0, 100);
  return hasBody(route) ? `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` : name;
}

function problemAt(pointer: string, detail: string): HttpProblem {
  return new HttpProblem(400, 'usage', detail, { fields: [{ pointer, detail }] });
}
