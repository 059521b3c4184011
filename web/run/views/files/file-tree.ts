/** The files that a run had to do with by a moment, as a tree: who owns, changed, wanted and fought over them. Pure. */
import { fixedNames } from '../../../../src/base/globs.ts';
import { parseGlob } from '../../../../src/base/glob-syntax.ts';
import type { ReportAt, TaskReport } from '../../../../src/contract/report.ts';
import type { ChangedFile } from '../../../../src/contract/run.ts';
import { sinceWork } from '../../../../src/report/words.ts';
import type { Owner } from './owners.ts';

export interface FileNode {
  /** From the top of the repository; empty for that itself. */
  path: string;
  name: string;
  depth: number;
  children: Map<string, FileNode>;
  /** Whose globs begin here. */
  claims: { owner: Owner; glob: string }[];
  /** Who changed this file, in which way. */
  changes: { task: string; change: ChangedFile['change'] }[];
  /** Files below that were changed. */
  changedCount: number;
  /** Who asked for it. */
  asked: { task: string; answer: string | null }[];
  /** Who fought over it. */
  conflicts: string[];
  /** Changed by a task whose scope does not allow it. */
  outside: { task: string; why: string }[];
}

export function fileTree(owners: readonly Owner[], report: ReportAt): FileNode {
  const root = nodeOf('', '', 0);
  for (const owner of owners)
    for (const glob of owner.globs) placeOf(root, glob).claims.push({ owner, glob });
  for (const task of report.tasks) addChanges(root, task);
  for (const task of report.tasks)
    for (const { globs, answer } of task.access)
      for (const glob of globs) placeOf(root, glob).asked.push({ task: task.id, answer });
  for (const { task, files, with: others } of report.conflicts)
    for (const file of files) at(root, file.split('/')).conflicts.push(task, ...others);
  sum(root);
  return root;
}

function addChanges(root: FileNode, task: TaskReport): void {
  const seen = new Set<string>();
  for (const attempt of sinceWork(task.attempts).toReversed()) {
    for (const { path, change } of attempt.changed) {
      if (seen.has(path)) continue;
      seen.add(path);
      at(root, path.split('/')).changes.push({ task: task.id, change });
    }
    for (const line of attempt.outside) {
      const [path, why] = outsideOf(line);
      at(root, path.split('/')).outside.push({ task: task.id, why });
    }
  }
}

/** `path: why`, where a path may hold anything. */
function outsideOf(line: string): [path: string, why: string] {
  const end = line.lastIndexOf(': ');
  return end === -1 ? [line, ''] : [line.slice(0, end), line.slice(end + 2)];
}

/** Where what a glob stands for begins. */
function placeOf(root: FileNode, glob: string): FileNode {
  try {
    return at(root, glob.includes('${{') ? [] : fixedNames(parseGlob(glob)));
  } catch {
    return root;
  }
}

function at(root: FileNode, names: readonly string[]): FileNode {
  let node = root;
  for (const name of names) {
    let next = node.children.get(name);
    if (!next) {
      next = nodeOf(node.path === '' ? name : `${node.path}/${name}`, name, node.depth + 1);
      node.children.set(name, next);
    }
    node = next;
  }
  return node;
}

function nodeOf(path: string, name: string, depth: number): FileNode {
  return {
    path,
    name,
    depth,
    children: new Map(),
    claims: [],
    changes: [],
    changedCount: 0,
    asked: [],
    conflicts: [],
    outside: [],
  };
}

/** By rounds, not by recursion: a path may be as deep as anybody likes. */
function sum(root: FileNode): void {
  const all: { node: FileNode; parent: FileNode | undefined }[] = [{ node: root, parent: undefined }];
  for (const { node } of all)
    for (const child of node.children.values()) all.push({ node: child, parent: node });
  for (const { node, parent } of all.toReversed()) {
    if (node.changes.length > 0) node.changedCount++;
    if (parent) parent.changedCount += node.changedCount;
  }
}

/** As rows from top to bottom, without what is within closed directories; the top itself only where somebody claims all of it. */
export function rowsOf(root: FileNode, isOpen: (node: FileNode) => boolean): FileNode[] {
  const rows: FileNode[] = [];
  const open: FileNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node !== root || node.claims.length > 0 || node.asked.length > 0) rows.push(node);
    if (node !== root && !isOpen(node)) continue;
    const children = [...node.children.values()].sort(
      (a, b) => Number(a.children.size === 0) - Number(b.children.size === 0) || (a.name < b.name ? -1 : 1),
    );
    open.push(...children.toReversed());
  }
  return rows;
}
