/** The workflow files of a repository, as far as their look tells: what is in one is found out by a check. It follows no links. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { WORKFLOW_FILES } from '../base/settings-path.ts';
import type { Reading } from '../contract/operations.ts';
import type { WorkflowFiles } from '../contract/outputs.ts';
import { readTextWithin } from '../definition/source/read-text.ts';
import { topOf } from './check.ts';

const EXTENSIONS = ['.yaml', '.yml', '.json'];
/** Where programs keep what people did not write. */
const PASSED_BY = new Set(['node_modules', 'vendor', 'dist', 'build', 'target']);
const OWN = '.bosun';
const CONFIG = path.join(OWN, 'config.yaml');
const DEPTH_MAX = 4;
const DIRECTORIES_MAX = 5000;
const READ_MAX = 1000;
const FILES_MAX = 200;
const FILE_BYTES_MAX = 1024 * 1024;
const NAME_CHARS_MAX = 200;

/** The one that runs where none is named comes first. */
export async function workflowFiles({ cwd, signal }: Reading<'workflows'>): Promise<WorkflowFiles> {
  const top = topOf(cwd) ?? path.resolve(cwd);
  const { names, isCut } = await candidates(top, signal);
  const found: WorkflowFiles['files'] = [];
  for (const file of names.toSorted(byPlace).slice(0, READ_MAX)) {
    if (found.length === FILES_MAX) break;
    signal?.throwIfAborted();
    const read = readTextWithin(top, path.join(top, file), FILE_BYTES_MAX);
    const name = 'text' in read ? nameIn(read.text, file) : undefined;
    if (name !== undefined) found.push({ file, ...(name !== '' && { name }) });
  }
  return { files: found, isCut: isCut || names.length > READ_MAX || found.length === FILES_MAX };
}

async function candidates(
  top: string,
  signal: AbortSignal | undefined,
): Promise<{ names: string[]; isCut: boolean }> {
  const names: string[] = [];
  let level = [''];
  let directories = 0;
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const next: string[] = [];
    for (const at of level) {
      signal?.throwIfAborted();
      if (++directories > DIRECTORIES_MAX) return { names, isCut: true };
      const entries = await readdir(path.join(top, at), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const name = path.join(at, entry.name);
        if (entry.isDirectory() && mayHold(entry.name)) next.push(name);
        if (entry.isFile() && EXTENSIONS.includes(path.extname(name)) && name !== CONFIG) names.push(name);
      }
    }
    level = next;
  }
  return { names, isCut: false };
}

function mayHold(directory: string): boolean {
  return directory === OWN || !(directory.startsWith('.') || PASSED_BY.has(directory));
}

/** Undefined for what is no workflow; empty for one that says no name. */
function nameIn(text: string, file: string): string | undefined {
  if (path.extname(file) === '.json') {
    if (!/"tasks"\s*:\s*\{/.test(text)) return undefined;
    return /"name"\s*:\s*"([^"\\]*)"/.exec(text)?.[1]?.slice(0, NAME_CHARS_MAX) ?? '';
  }
  if (!/^tasks:\s*(#.*)?$|^tasks:\s*\{/m.test(text)) return undefined;
  const [, quoted, plain = ''] = /^name:[ \t]*(?:(['"][^'"\n]*['"])|([^#\n]*))/m.exec(text) ?? [];
  return (quoted?.slice(1, -1) ?? plain.trim()).slice(0, NAME_CHARS_MAX);
}

function byPlace(a: string, b: string): number {
  const rank = (file: string): number => {
    const place = (WORKFLOW_FILES as readonly string[]).indexOf(file);
    return place < 0 ? WORKFLOW_FILES.length + file.split(path.sep).length : place;
  };
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}
