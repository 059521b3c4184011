/**
 * Reads the diff with which an agent asks an owner for a change: which files it changes, and that it is nothing but
 * text, in the files that are asked for. It takes only what it knows, so that git cannot read more in it. It applies
 * nothing, and reads no file.
 */
import { cutText } from '../base/cut-text.ts';
import { compileGlobs } from '../base/globs.ts';
import { PATCH_BYTES_MAX, type PatchedFile } from '../contract/access.ts';
import { BosunError } from '../contract/errors.ts';
import { vetChanges } from './vet.ts';

const FILES_MAX = 100;
const SHOWN_CHARS_MAX = 100;
/** What drives a terminal, or turns the direction of a line; a carriage return only at the end of one. */
const UNFIT = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const MODE = /^(old mode|new mode|new file mode|deleted file mode) 100(644|755)$/;
const KNOWN =
  /^(index [0-9a-f]{4,64}\.\.[0-9a-f]{4,64}( 100(644|755))?|(dis)?similarity index \d{1,3}%|rename (from|to) [^"].*)$/;
const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/;
const NOWHERE = '/dev/null';

/** Throws where the diff is anything else. */
export function readWantedPatch(patch: string, globs: readonly string[]): PatchedFile[] {
  if (Buffer.byteLength(patch) > PATCH_BYTES_MAX)
    refuse(`it has more than ${PATCH_BYTES_MAX / 1024} KB; ask for the files instead`);
  const files = new Reader(patch).read();
  if (files.size === 0) refuse('it changes no file; make it with git diff');
  if (files.size > FILES_MAX) refuse(`it changes more than ${FILES_MAX} files`);
  const changed = [...files].map(([path, change]): PatchedFile => ({ path, change }));
  const isAsked = compileGlobs(globs);
  for (const { path } of changed) {
    if (path.split('/').some((name) => name === '' || name === '.' || name === '..'))
      refuse(`${shown(path)} is no path in the repository`);
    if (!isAsked(path)) refuse(`it changes ${shown(path)}, which is not among the files that you ask for`);
  }
  const { refused, outside } = vetChanges(
    changed.map(({ path, change }) => {
      const bytes = Buffer.from(path);
      if (change === 'deleted') return { kind: 'delete', path: bytes, wasDirectory: false };
      return { kind: 'file', path: bytes, source: bytes, mode: '100644', size: 0, isNew: change === 'added' };
    }),
    { write: globs },
    (file) => [file],
  );
  const [bad] = [...refused, ...outside];
  if (bad) refuse(`it changes ${shown(bad.path.toString())}: ${bad.why}`);
  return changed;
}

/** Line by line: a header for each file, then as many lines as each hunk says. */
class Reader {
  readonly #lines: string[];
  readonly #files = new Map<string, PatchedFile['change']>();
  #at = 0;

  constructor(patch: string) {
    this.#lines = patch.split('\n').map((line) => line.replace(/\r$/, ''));
  }

  read(): Map<string, PatchedFile['change']> {
    for (; this.#at < this.#lines.length; this.#at++) this.#header(this.#lines[this.#at]!);
    return this.#files;
  }

  #header(line: string): void {
    this.#checkCharacters(line);
    const both = /^diff --git a\/(.+) b\/(.+)$/.exec(line);
    if (both) {
      // A name with " b/" in it could be cut elsewhere by git.
      if (both[1] === both[2]) return this.#note(both[1]!, 'modified');
      return line.split(' b/').length === 2
        ? (this.#note(both[1]!, 'modified'), this.#note(both[2]!, 'modified'))
        : this.#unknown(line);
    }
    if (line === '' || MODE.test(line)) return;
    if (KNOWN.test(line)) {
      const renamed = /^rename (from|to) (.+)$/.exec(line);
      if (renamed) this.#note(renamed[2]!, renamed[1] === 'from' ? 'deleted' : 'added');
      return;
    }
    if (line.startsWith('--- ')) return this.#sides(line);
    const hunk = HUNK.exec(line);
    if (hunk) return this.#hunk(Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
    if (/^(GIT binary patch|Binary files )/.test(line))
      refuse('it holds a binary file; only text can be sent');
    if (/^(diff --git|---|rename from|rename to) "/.test(line))
      refuse('it names a file with characters that git puts in quotes; ask for that file instead');
    if (/ mode (120000|160000)$/.test(line)) refuse('it makes a link or a submodule, which cannot be sent');
    this.#unknown(line);
  }

  #sides(line: string): void {
    const next = this.#lines[++this.#at] ?? '';
    this.#checkCharacters(next);
    const from = side(line, '--- ', 'a/');
    const to = side(next, '+++ ', 'b/');
    if (from === undefined || to === undefined || (from === NOWHERE && to === NOWHERE))
      return this.#unknown(from === undefined ? line : next);
    if (from !== NOWHERE) this.#note(from, to === NOWHERE ? 'deleted' : 'modified');
    if (to !== NOWHERE) this.#note(to, from === NOWHERE ? 'added' : 'modified');
  }

  #hunk(before: number, after: number): void {
    let [beforeLeft, afterLeft] = [before, after];
    while (beforeLeft > 0 || afterLeft > 0) {
      const line = this.#lines[++this.#at];
      if (line === undefined) return refuse('it ends in the middle of a change');
      this.#checkCharacters(line);
      const sign = line === '' ? ' ' : line[0]!;
      if (sign === '\\') continue;
      if (!' +-'.includes(sign)) return this.#unknown(line);
      if (sign !== '+') beforeLeft--;
      if (sign !== '-') afterLeft--;
    }
    if (beforeLeft < 0 || afterLeft < 0)
      return refuse(`a change has more lines than it says, at line ${this.#at + 1}`);
    if (this.#lines[this.#at + 1]?.startsWith('\\')) this.#at++;
  }

  /** What is known of a file stays: a header says less than what follows it. */
  #note(path: string, change: PatchedFile['change']): void {
    if (change !== 'modified' || !this.#files.has(path)) this.#files.set(path, change);
  }

  #checkCharacters(line: string): void {
    if (UNFIT.test(line.replaceAll('\t', '')))
      refuse(`line ${this.#at + 1} holds a character that does not show; ask for the file instead`);
  }

  #unknown(line: string): never {
    return refuse(`line ${this.#at + 1} is no part of a unified diff of text files: ${shown(line)}`);
  }
}

/** The path of one side; undefined where there is none. What follows a tab is a date. */
function side(line: string, mark: string, prefix: string): string | undefined {
  if (!line.startsWith(mark)) return undefined;
  const path = line.slice(mark.length).split('\t', 1)[0]!;
  if (path === NOWHERE) return path;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

function shown(text: string): string {
  return JSON.stringify(cutText(text, SHOWN_CHARS_MAX));
}

function refuse(why: string): never {
  throw new BosunError('usage', `cannot ask for this change: ${why}`);
}
