/**
 * Folds the tasks of a large run into boxes that can be looked at: groups with all that is within them, then tasks that are
 * alike, then those that are equally far from the start. It knows no states: the same tasks fold alike at every moment.
 */
import { count } from '../words.ts';

export interface Foldable {
  id: string;
  label: string;
  parent: string | null;
  needs: readonly string[];
}

/** A box: a task, with those within it, or several. */
interface Fold {
  id: string;
  label: string;
  /** Ids of other folds. */
  needs: string[];
  /** The tasks that it stands for, without those within them. */
  members: string[];
}

export interface Folds {
  folds: Fold[];
  /** What is not shown as it is, for people. */
  note: string;
  /** Only the first ones are here. */
  isCut: boolean;
}

export const BOXES_MAX = 200;

export function foldTasks(tasks: readonly Foldable[]): Folds {
  const top = tasks
    .filter(({ parent }) => parent === null)
    .map(({ id, label, needs }): Fold => ({ id, label, needs: [...needs], members: [id] }));
  const size = count(tasks.length, 'task');
  if (top.length <= BOXES_MAX)
    return { folds: top, note: `${size}: those within another are folded into it.`, isCut: false };
  const alike = bundleBy(top, likenessOf(top));
  if (alike.length <= BOXES_MAX) {
    const note = `${size}: those with the same needs and the same followers share a box.`;
    return { folds: alike, note, isCut: false };
  }
  const layers = bundleBy(top, layerOf(top));
  if (layers.length <= BOXES_MAX) {
    const note = `${size}: those that are equally far from the start share a box.`;
    return { folds: layers, note, isCut: false };
  }
  return {
    folds: layers.slice(0, BOXES_MAX),
    note: `${size}, too many to draw: the first ${BOXES_MAX} layers are shown.`,
    isCut: true,
  };
}

function likenessOf(folds: readonly Fold[]): (fold: Fold) => string {
  const followers = followersOf(folds);
  return ({ id, needs }) => JSON.stringify([needs, (followers.get(id) ?? []).map((fold) => fold.id)]);
}

function followersOf(folds: readonly Fold[]): Map<string, Fold[]> {
  const followers = new Map<string, Fold[]>();
  for (const fold of folds) {
    for (const need of fold.needs) {
      const known = followers.get(need);
      if (known) known.push(fold);
      else followers.set(need, [fold]);
    }
  }
  return followers;
}

/** How far it is from the start. By rounds, not by recursion: a chain may be ten thousand long. */
function layerOf(folds: readonly Fold[]): (fold: Fold) => string {
  const layers = new Map<string, number>();
  const followers = followersOf(folds);
  const open = new Map(folds.map(({ id, needs }) => [id, needs.length]));
  let round = folds.filter(({ needs }) => needs.length === 0);
  for (let layer = 0; round.length > 0; layer += 1) {
    const next: Fold[] = [];
    for (const { id } of round) {
      layers.set(id, layer);
      for (const follower of followers.get(id) ?? []) {
        const left = open.get(follower.id)! - 1;
        open.set(follower.id, left);
        if (left === 0) next.push(follower);
      }
    }
    round = next;
  }
  return ({ id }) => String(layers.get(id) ?? -1);
}

/** One for all of the same kind, named after the first. */
function bundleBy(folds: readonly Fold[], kindOf: (fold: Fold) => string): Fold[] {
  const kinds = Map.groupBy(folds, kindOf);
  const standsFor = new Map<string, string>();
  for (const alike of kinds.values()) for (const { id } of alike) standsFor.set(id, alike[0]!.id);
  return [...kinds.values()].map((alike) => {
    const first = alike[0]!;
    const needs = new Set(alike.flatMap((fold) => fold.needs.map((need) => standsFor.get(need) ?? need)));
    needs.delete(first.id);
    return {
      id: first.id,
      label: alike.length === 1 ? first.label : `${first.label} + ${alike.length - 1}`,
      needs: [...needs],
      members: alike.flatMap(({ members }) => members),
    };
  });
}
