/** What an attempt changed, from the server: sizes first, then the patch as far as one wants to read, the rest file by file. */
import { useCallback, useEffect, useState } from 'react';
import type { Changes } from '../../../src/contract/outputs.ts';
import { readPatch, type PatchLine } from '../../../src/report/patch/patch.ts';
import { ask, request, runPath } from '../../data/api.ts';

export interface DiffOf {
  repository: string;
  run: string;
  task: string;
  attempt: number;
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

export type Diff =
  | { state: 'loading' }
  | { state: 'problem'; message: string; again(): void }
  /** `isRead`: what was read at once has all come. */
  | { state: 'open'; files: readonly DiffFile[]; isRead: boolean };

const PATCH_CHARS_MAX = 6 * 1024 * 1024;
/** More than anybody sees at first. */
const FIRST_CHARS = 20_000;
const LOADING: Diff = { state: 'loading' };

/** Undefined: there is nothing to ask for yet. */
export function useDiff(of: DiffOf | undefined): { diff: Diff; read(path: string): void } {
  const [diff, setDiff] = useState<Diff>(LOADING);
  const [tries, setTries] = useState(0);
  const key = of && JSON.stringify(of);
  useEffect(() => {
    if (key === undefined) return undefined;
    const stop = new AbortController();
    setDiff(LOADING);
    load(JSON.parse(key) as DiffOf, stop.signal, setDiff).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      setDiff({ state: 'problem', message, again: () => setTries((n) => n + 1) });
    });
    return () => stop.abort();
  }, [key, tries]);
  const read = useCallback(
    (path: string) => {
      if (key === undefined) return;
      const set = (found: Partial<DiffFile>): void =>
        setDiff((before) =>
          before.state === 'open'
            ? {
                ...before,
                files: before.files.map((file) => (file.path === path ? { ...file, ...found } : file)),
              }
            : before,
        );
      const asked = JSON.parse(key) as DiffOf;
      readText(asked, { path }, new AbortController())
        .then(({ text }) => set(readFiles(text)[0] ?? { lines: [] }))
        .catch((error: unknown) => set({ problem: error instanceof Error ? error.message : String(error) }));
    },
    [key],
  );
  return { diff, read };
}

async function load(of: DiffOf, signal: AbortSignal, set: (diff: Diff) => void): Promise<void> {
  const stop = new AbortController();
  signal.addEventListener('abort', () => stop.abort());
  const sized = ask<Changes>(`${runPath(of.repository, of.run)}/changes`, {
    query: queryOf(of),
    signal,
  }).then(({ files }) => files.map((file): DiffFile => ({ ...file, note: '' })));
  let isShown = false;
  // What one sees first is shown as soon as it is here.
  const patch = readText(of, {}, stop, (begun) => {
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
  stop: AbortController,
  begun: (text: string) => void = () => {},
): Promise<{ text: string; isCut: boolean }> {
  const query = { ...queryOf(of), ...more };
  const { body } = await request(`${runPath(of.repository, of.run)}/patch`, { query, signal: stop.signal });
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
