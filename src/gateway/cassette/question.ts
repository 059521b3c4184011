/** A request as it stands on a cassette: with names for this run's paths, and without secrets. Changes no request. */
import type { ModelRequest } from '../transport.ts';
import { asText } from './content.ts';
import { edited, type Editor } from './edits.ts';
import { pathsIn, type PlaceOf } from './place.ts';
import { secretsIn, withoutCredentials } from './scrub.ts';
import type { Content, Exchange } from './cassette-file.ts';

export interface CassetteOptions {
  placeOf: PlaceOf;
  /** Keys that must not be on a cassette, whatever they look like. */
  secrets: readonly string[];
}

export type CassetteQuestion = Pick<
  Exchange,
  'task' | 'attempt' | 'run' | 'provider' | 'dialect' | 'method' | 'path' | 'request'
>;

export function questionOf(asked: ModelRequest, options: CassetteOptions): CassetteQuestion {
  const { task, attempt, provider, dialect, method } = asked;
  const place = options.placeOf(asked.run, task, attempt);
  const editor = editorOf(asked, options);
  const path = withoutCredentials(asked.path);
  return {
    task,
    attempt,
    ...(place && { run: place.run.replace(/-\d+$/, '') }), // the name alone: the number is another each time
    provider,
    dialect,
    method,
    path: edited(path, editor(path)),
    request: contentOf(asked.body, editor),
  };
}

export function editorOf(
  { run, task, attempt }: ModelRequest,
  { placeOf, secrets }: CassetteOptions,
): Editor {
  const place = placeOf(run, task, attempt);
  return (text) => [...secretsIn(text, secrets), ...pathsIn(text, place)];
}

function contentOf(body: Buffer, editor: Editor): Content {
  const text = asText(body);
  if (text === undefined) return { base64: body.toString('base64') };
  const clean = edited(text, editor(text));
  try {
    return { json: JSON.parse(clean) as unknown };
  } catch {
    return { text: clean };
  }
}
