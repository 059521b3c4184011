/**
 * Changes one key in the text of a configuration and leaves all else as it was written, comments too. What comes out is
 * read again before anybody sees it. It touches no file.
 */
import { isDeepStrictEqual } from 'node:util';
import { isAlias, isCollection, isScalar, parseDocument, type Document } from 'yaml';
import { isFields, type Fields } from '../base/fields.ts';
import { BosunError } from '../contract/errors.ts';
import { joinKey } from '../contract/config-keys.ts';
import { parseConfig } from './config.ts';
import { isSecretPlace } from './check/providers.ts';
import { throwProblems } from './source/problem.ts';
import { readSource } from './source/source.ts';

export interface EditedFile {
  /** As messages call it. */
  file: string;
  text: string;
  isUsers: boolean;
}

type Path = readonly string[];

const SECRETS = ['providers', 'remotes'];

/** Throws where the file is broken as it is, where its owner may not say this, or where the value cannot be it. */
export function setKey(edited: EditedFile, path: Path, said: string): { text: string; value: unknown } {
  const { data: before, ignored } = readAsIs(edited);
  let why = '';
  for (const value of readings(said)) {
    const text = written(edited.text, (document) => put(document, path, value), path);
    const parsed = parseConfig(text, edited.file, edited.isUsers);
    if ('problems' in parsed) {
      why = parsed.problems.map(({ message }) => message).join('; ');
      continue;
    }
    // What the file says in vain already is no reason against this.
    if (parsed.ignored !== undefined && parsed.ignored !== ignored) {
      const shown = parsed.ignored.replace(/^.*?: ignored (".*?": )?/, '');
      throw new BosunError('usage', `${joinKey(path)} was not set: ${shown}`);
    }
    requireSame(text, withValue(before, path, value), edited.file);
    return { text, value };
  }
  // A key that was typed by mistake may be anywhere in what was to be written there.
  const mayBeSecret = isSecretPlace(path) || SECRETS.includes(path[0]!);
  const shown = mayBeSecret ? why.replace(/, but is .*/s, '') : why;
  throw new BosunError('usage', `${joinKey(path)} was not set: ${shown}`);
}

/** Undefined where the file does not say it. What is empty without it goes too. */
export function unsetKey(edited: EditedFile, path: Path): string | undefined {
  const { data: before } = readAsIs(edited);
  if (valueOf(before, path) === undefined) return undefined;
  const text = written(
    edited.text,
    (document) => {
      document.deleteIn(path);
      for (let above = path.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
        const node = document.getIn(above, true);
        if (isCollection(node) && node.items.length === 0) document.deleteIn(above);
      }
    },
    path,
  );
  const parsed = parseConfig(text, edited.file, edited.isUsers);
  if ('problems' in parsed) {
    const why = parsed.problems.map(({ message }) => message).join('; ');
    throw new BosunError('usage', `${joinKey(path)} was not removed: ${why}`);
  }
  requireSame(text, withoutValue(before, path), edited.file);
  return text;
}

/** As text where that fits, else as YAML: `8` is a number where one is wanted. */
function readings(said: string): unknown[] {
  const { data, problems } = readSource(said, 'value');
  return problems.length > 0 || data === null || data === said ? [said] : [said, data];
}

function readAsIs({ text, file, isUsers }: EditedFile): { data: Fields; ignored: string | undefined } {
  const parsed = parseConfig(text, file, isUsers);
  if ('problems' in parsed) throwProblems(parsed.problems);
  return { data: (readSource(text, file).data ?? {}) as Fields, ignored: parsed.ignored };
}

function written(text: string, change: (document: Document) => void, path: Path): string {
  const document = parseDocument(text, { logLevel: 'error' });
  for (let length = 0; length < path.length; length++) {
    const above = path.slice(0, length);
    const node = length === 0 ? document.contents : document.getIn(above, true);
    if (isAlias(node)) throw byHand(path, `${joinKey(above)} is an alias`);
    // Written with nothing after its colon.
    if (isScalar(node) && node.value === null) {
      if (length === 0) document.contents = null;
      else document.deleteIn(above);
    } else if (isScalar(node)) throw byHand(path, `${joinKey(above)} is not a map`);
  }
  change(document);
  if (isCollection(document.contents) && document.contents.items.length === 0)
    document.contents = null as never;
  const changed = document.toString({ lineWidth: 0 });
  return changed.trim() === 'null' ? '' : changed;
}

/** A value in place of another keeps the comment beside it. */
function put(document: Document, path: Path, value: unknown): void {
  const isLine = typeof value !== 'object' || value === null;
  document.setIn(path, isLine ? value : document.createNode(value));
}

/** Whatever the writing did, nothing else may mean something else now. */
function requireSame(text: string, wanted: Fields, file: string): void {
  const { data, problems } = readSource(text, file);
  if (problems.length > 0 || !isDeepStrictEqual(data ?? {}, wanted))
    throw new BosunError('usage', `${file} cannot be changed without changing more of it: edit it by hand`);
}

function byHand(path: Path, why: string): BosunError {
  return new BosunError('usage', `${joinKey(path)} cannot be changed here: ${why}; edit the file by hand`);
}

function valueOf(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) => (isFields(value) && Object.hasOwn(value, part) ? value[part] : undefined),
    data,
  );
}

function withValue(data: unknown, [part, ...rest]: Path, value: unknown): Fields {
  const fields = isFields(data) ? data : {};
  const own = Object.hasOwn(fields, part!) ? fields[part!] : undefined;
  return { ...fields, [part!]: rest.length === 0 ? value : withValue(own, rest, value) };
}

function withoutValue(data: unknown, [part, ...rest]: Path): Fields {
  const { [part!]: own, ...others } = isFields(data) ? data : {};
  if (rest.length === 0) return others;
  const inner = withoutValue(own, rest);
  return Object.keys(inner).length === 0 ? others : { ...others, [part!]: inner };
}
