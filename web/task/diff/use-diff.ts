/** What an attempt changed, from the server: sizes first, then the patch as far as one wants to read, the rest file by file. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Changes } from '../../../src/contract/outputs.ts';
import { readPatch, type PatchLine } from '../../../src/report/patch/patch.ts';
import { ask, request, runPath } from '../../data/api.ts';
import { FileReads } from './file-reads.ts';

export interface DiffOf {
  repository: string;
  run: string;
  task: string;
  /** Undefined for the last one. */
  attempt: number | undefined;
  /** What its scope did not allow. */
  outside: boolean;
}

export interface DiffFile {
  path: string;
  /** Null for a binary file. */
  added: number | null;
  deleted: number | null;
  note: string;
  /** Absent where they have not been read. */
  lines?: readonly PatchLine[];
  problem?: string;
}

type Diff =
  | { state: 'loading' }
  | { state: 'problem'; message: string; again(): void }
  /** `isRead`: what was read at once has all come. */
  | { state: 'open'; files: readonly DiffFile[]; isRead: boolean };

const PATCH_CHARS_MAX = 6 * 1024 * 1024;
/** More than anybody sees at first. */
const FIRST_CHARS = 20_000;
const LOADING: Diff = { state: 'loading' };

export interface DiffAsked {
  diff: Diff;
  /** Files whose lines are to be read now; in place of those that were wanted before. */
  want(paths: readonly string[]): void;
  /** What went wrong with this file is no matter any more. */
  forgive(path: string): void;
}

export function useDiff(of: DiffOf): DiffAsked {
  const [diff, setDiff] = useState<Diff>(LOADING);
  const [tries, setTries] = useState(0);
  const reads = useRef<FileReads>(undefined);
  const key = JSON.stringify(of);
  const set = (path: string, found: Partial<DiffFile> | undefined): void =>
    setDiff((before) => (before.state === 'open' ? withFile(before, path, found) : before));
  useEffect(() => {
    const stop = new AbortController();
    const asked = JSON.parse(key) as DiffOf;
    setDiff(LOADING);
    reads.current = new FileReads(async (path) => {
      if (stop.signal.aborted) return;
      const found = await readFile(asked, path, stop.signal);
      if (!stop.signal.aborted) set(path, found);
    });
    load(asked, stop.signal, setDiff).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      setDiff({ state: 'problem', message, again: () => setTries((n) => n + 1) });
    });
    return () => stop.abort();
  }, [key, tries]);
  const want = useCallback((paths: readonly string[]) => reads.current?.want(paths), []);
  return { diff, want, forgive: (path) => set(path, undefined) };
}

function withFile(diff: Extract<Diff, { state: 'open' }>, path: string, found?: Partial<DiffFile>): Diff {
  const files = diff.files.map((file): DiffFile => {
    if (file.path !== path) return file;
    const { problem: _, ...rest } = file;
    return { ...rest, ...found };
  });
  return { ...diff, files };
}

async function readFile(of: DiffOf, path: string, signal: AbortSignal): Promise<Partial<DiffFile>> {
  try {
    const { text } = await readText(of, { path }, signal);
    const [file] = readFiles(text);
    return file ? { note: file.note, lines: file.lines } : { lines: [] };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function load(of: DiffOf, signal: AbortSignal, set: (diff: Diff) => void): Promise<void> {
  const sized = ask<Changes>(`${runPath(of.repository, of.run)}/changes`, {
    query: queryOf(of),
    signal,
  }).then(({ files }) => files.map((file): DiffFile => ({ ...file, note: '' })));
  let isShown = false;
  // What one sees first is shown as soon as it is here.
  const patch = readText(of, {}, signal, (begun) => {
    isShown = true;
    void sized.then(
      (files) =>
        !signal.aborted && !isRead && set({ state: 'open', isRead, files: filled(files, begun, true) }),
      () => {}, // it is awaited below
    );
  });
  let isRead = false;
  patch.catch(() => {}); // it is awaited below
  const files = await sized;
  if (signal.aborted) return;
  if (!isShown) set({ state: 'open', files, isRead });
  const { text, isCut } = await patch;
  if (signal.aborted) return;
  isRead = true;
  set({ state: 'open', isRead, files: filled(files, text, isCut) });
}

/** With what was read of them; of one that is cut nobody knows where it ends. */
function filled(files: readonly DiffFile[], text: string, isCut: boolean): DiffFile[] {
  const read = readFiles(text);
  if (isCut) read.pop();
  const byPath = new Map(read.map((file) => [file.path, file]));
  return files.map((file) => {
    const found = byPath.get(file.path);
    return found ? { ...file, note: found.note, lines: found.lines } : file;
  });
}

async function readText(
  of: DiffOf,
  more: { path?: string },
  signal: AbortSignal,
  begun: (text: string) => void = () => {},
): Promise<{ text: string; isCut: boolean }> {
  const query = { ...queryOf(of), ...more };
  const { body } = await request(`${runPath(of.repository, of.run)}/patch`, { query, signal });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const pieces: string[] = [];
  for (let chars = 0; chars < PATCH_CHARS_MAX;) {
    const { value, done } = await reader.read();
    if (done) return { text: pieces.join(''), isCut: false };
    pieces.push(value);
    const isFirst = chars < FIRST_CHARS;
    chars += value.length;
    if (isFirst && chars >= FIRST_CHARS) begun(pieces.join(''));
  }
  await reader.cancel().catch(() => {});
  return { text: pieces.join(''), isCut: true };
}

function queryOf({ task, attempt, outside }: DiffOf): Record<string, string | number | boolean | undefined> {
  return { task, attempt, ...(outside && { outside }) };
}

function readFiles(text: string): { path: string; note: string; lines: readonly PatchLine[] }[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return readPatch(lines).map(({ path, note, lines: own }) => ({ path: unquoted(path), note, lines: own }));
}

/** Git writes names with odd bytes in quotes, and escapes a backslash of any: where there is one, it is an escape. */
function unquoted(path: string): string {
  if (!path.includes('\\')) return path;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part] of path.matchAll(/\\[0-7]{3}|\\[^]|[^\\]+/g)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8));
    else if (part.startsWith('\\')) bytes.push(...encoder.encode(ESCAPES[part[1]!] ?? part[1]!));
    else bytes.push(...encoder.encode(part));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };
