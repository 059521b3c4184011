/** A text in YAML or JSON as plain data, and where in the text each piece of it stands. It knows no schema. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Pair,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { isMergeKey, scalarText, toData } from './yaml-data.ts';
import { formatExcerpt, formatPath, type Located, type Path, type Problem } from './problem.ts';

export interface Source {
  file: string;
  data: unknown;
  /** What is wrong with the text as such. */
  problems: Located[];
  warnings: string[];
  locate: (problem: Problem) => Located;
}

const SYNTAX_PROBLEMS_MAX = 3;

export function readSource(text: string, file: string): Source {
  const lineCounter = new LineCounter();
  // Duplicate keys are found below: the library's own search takes a time that is quadratic in the keys.
  const document: Document.Parsed = parseDocument(text, {
    lineCounter,
    uniqueKeys: false,
    prettyErrors: false,
    version: '1.2',
    logLevel: 'error',
  });
  const lastTextEnd = text.trimEnd().length;
  const at = (place: number, to: number, message: string, path: Path = []): Located => {
    const from = Math.min(place, lastTextEnd); // what is missing at the end is missing after the last text
    const { line, col } = lineCounter.linePos(from);
    const start = lineCounter.lineStarts[line - 1] ?? 0;
    const end = text.indexOf('\n', start);
    const shown = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '');
    const length = Math.min(to, start + shown.length) - from;
    return {
      file,
      line,
      column: col,
      path: formatPath(path),
      message,
      excerpt: formatExcerpt(shown, line, col, length),
    };
  };

  const problems = firstOfEachLine(document.errors, lineCounter).map((error) =>
    at(error.pos[0], error.pos[1], syntaxMessage(error.code, error.message)),
  );
  const warnings: string[] = [];
  for (const warning of document.warnings.slice(0, SYNTAX_PROBLEMS_MAX)) {
    if (warning.code === 'TAG_RESOLVE_FAILED') {
      problems.push(
        at(warning.pos[0], warning.pos[1], `${lower(warning.message)}; tags have no meaning here, remove it`),
      );
    } else warnings.push(`${file}: ${lower(warning.message)}`);
  }
  const locate = (problem: Problem): Located => {
    const [from, to] = findRange(document, problem, text);
    return at(from, to, problem.message, problem.path);
  };
  const report = (from: number, to: number, message: string): void =>
    void problems.push(at(from, to, message));
  const data = problems.length > 0 ? undefined : toData(document.contents, report, lineCounter);
  return { file, data, problems, warnings, locate };
}

/** What follows an error in the same line is mostly its consequence. */
function firstOfEachLine(errors: readonly YAMLParseError[], lineCounter: LineCounter): YAMLParseError[] {
  const first = new Map<number, YAMLParseError>();
  for (const error of errors) {
    const { line } = lineCounter.linePos(error.pos[0]);
    if (!first.has(line)) first.set(line, error);
    if (first.size === SYNTAX_PROBLEMS_MAX) break;
  }
  return [...first.values()];
}

function findRange(document: Document.Parsed, problem: Problem, text: string): [number, number] {
  let node: unknown = document.contents;
  let key: unknown;
  for (const part of problem.path) {
    const owner = isAlias(node) ? node.resolve(document) : node;
    if (isMap(owner)) {
      const pair = findPair(document, owner, String(part));
      if (!pair) break;
      [key, node] = [pair.key, pair.value];
    } else if (isSeq(owner) && typeof part === 'number' && part < owner.items.length) {
      key = undefined;
      node = owner.items[part];
    } else break;
  }
  const isEmpty = !isNode(node) || !node.range || (isScalar(node) && node.range[1] === node.range[0]);
  const target = (problem.atKey || isEmpty) && isNode(key) ? key : node;
  if (!isNode(target) || !target.range) return [0, 1];
  const [from, to] = target.range;
  if (problem.find !== undefined) {
    const found = text.slice(from, to).indexOf(problem.find);
    if (found !== -1) return [from + found, from + found + problem.find.length];
  }
  return [from, isScalar(target) ? to : from + 1];
}

/** A field of the map itself, else of what it merges in; each map is searched once, however often it is merged. */
function findPair(document: Document.Parsed, map: YAMLMap, name: string): Pair | undefined {
  const seen = new Set<unknown>();
  const search = (node: unknown): Pair | undefined => {
    const owner = isAlias(node) ? node.resolve(document) : node;
    if (seen.has(owner)) return undefined;
    seen.add(owner);
    if (isSeq(owner)) return firstOf(owner.items);
    if (!isMap(owner)) return undefined;
    const { own, merged } = fieldsOf(owner);
    return own.get(name) ?? firstOf(merged);
  };
  const firstOf = (nodes: unknown[]): Pair | undefined => {
    for (const node of nodes) {
      const found = search(node);
      if (found) return found;
    }
    return undefined;
  };
  return search(map);
}

interface FieldsOfMap {
  own: ReadonlyMap<string, Pair>;
  /** What it merges in. */
  merged: unknown[];
}

/** Listed once for each map: it may have as many problems as fields. */
const listed = new WeakMap<YAMLMap, FieldsOfMap>();

function fieldsOf(map: YAMLMap): FieldsOfMap {
  const known = listed.get(map);
  if (known) return known;
  const own = new Map<string, Pair>();
  const merged: unknown[] = [];
  for (const pair of map.items) {
    if (isMergeKey(pair.key)) merged.push(pair.value);
    else if (isScalar(pair.key)) {
      const name = scalarText(pair.key);
      if (!own.has(name)) own.set(name, pair);
    }
  }
  const fields = { own, merged };
  listed.set(map, fields);
  return fields;
}

const SYNTAX_MESSAGES: Record<string, string> = {
  TAB_AS_INDENT: 'a tab cannot indent in YAML; use spaces',
  BLOCK_AS_IMPLICIT_KEY:
    'there is a second ":" in this line; put text that holds ": " in quotes, or start a new line',
  MULTILINE_IMPLICIT_KEY:
    'a field must be "name: value" on one line; is a ":" missing, or is the indentation off?',
  MULTIPLE_DOCS: 'a workflow file holds one document; remove what follows the second "---"',
  RESOURCE_EXHAUSTION: 'this is nested too deeply; make it flatter',
};

function syntaxMessage(code: string, message: string): string {
  const known = SYNTAX_MESSAGES[code];
  if (known !== undefined) return known;
  if (code === 'BAD_INDENT' && /end with a (.)$/.test(message))
    return `"${message.at(-1)}" is missing: the list or map is never closed`;
  if (code === 'BAD_SCALAR_START') return `${lower(message)}; put the text in quotes`;
  if (message.startsWith('Missing closing'))
    return 'the text in quotes is never closed; add the closing quote';
  if (/Implicit map keys need/.test(message)) return 'a field must be "name: value"; ":" is missing';
  if (code === 'UNEXPECTED_TOKEN')
    return 'this is not expected here; is the indentation off, or a quote or a comma missing?';
  return lower(message);
}

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
