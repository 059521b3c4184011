/**
 * Finds what other tasks produced for an attempt that asks: which of them it may read, and where their work is. It
 * writes no file and decides nothing: files are made by the attempt.
 */
import path from 'node:path';
import { fileName } from '../base/file-name.ts';
import { didYouMean } from '../base/suggest.ts';
import { attemptRef } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { Produced } from '../contract/produced.ts';
import type { Json } from '../contract/workflow.ts';
import { API_NEED } from '../contract/workflow-words.ts';
import { nodeOf, type Node, type State } from '../schedule/state.ts';
import { groupResult } from '../schedule/workflow/group-result.ts';
import { outputOf } from '../schedule/workflow/said.ts';
import { producersOf } from '../schedule/workflow/producers.ts';
import {
  findInterface,
  standing,
  standingFor,
  tellPublication,
  versionUnder,
} from '../schedule/workflow/publications.ts';

const NAMES_SHOWN_MAX = 20;

export class OutputsDesk {
  readonly #state: State;
  readonly #artifacts: string;

  /** `artifacts`: the directory in which those of all tasks are. */
  constructor(state: State, artifacts: string) {
    this.#state = state;
    this.#artifacts = artifacts;
  }

  /** All that the task may read, or what is called so. */
  produced(task: string, name?: string): Produced[] {
    const node = nodeOf(this.#state, task);
    const producers = producersOf(node);
    if (name === undefined) {
      const published = standingFor(this.#state, node).map((one) => this.#published(node, one.name)!);
      return [...producers.map((producer) => this.#of(producer)), ...published];
    }
    const found = name.startsWith(API_NEED)
      ? this.#published(node, name.slice(API_NEED.length))
      : producers.filter(({ id, label }) => id === name || label === name).map((one) => this.#of(one))[0];
    if (found) return [found];
    const names = producers.map(({ label }) => label);
    const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ') || 'none';
    throw new BosunError(
      'not-found',
      `there is nothing of ${JSON.stringify(name.slice(0, 100))} that you could read${didYouMean(name, names)}; tasks that yours needs and that have ended: ${shown}`,
    );
  }

  #of(node: Node): Produced {
    const { id, label, attempt, state } = node;
    const output = this.#outputOf(node);
    const diff = this.#diffOf(node);
    return {
      name: label,
      place: fileName(`${id}@${attempt}`),
      state,
      ...(output !== undefined && { output }),
      summary: groupResult(node).summary,
      ...(diff && { diff }),
      ...(attempt > 0 && { artifacts: path.join(this.#artifacts, `${id}@${attempt}`) }),
    };
  }

  #outputOf(node: Node): Json | undefined {
    const output = outputOf(this.#state, node);
    return output === null ? undefined : output;
  }

  /** As it was merged; else as the attempt left it. */
  #diffOf({
    id,
    attempt,
    branchCommit,
    isCollected,
    changedCount,
    workspaceBase,
    started,
  }: Node): Produced['diff'] {
    if (branchCommit !== undefined) return { from: `${branchCommit}^1`, to: branchCommit };
    if (!isCollected || !changedCount || workspaceBase === undefined) return undefined;
    const from = started?.purpose === 'resolve' ? `${workspaceBase}^1` : workspaceBase;
    return { from, to: attemptRef(this.#state.id, id, attempt) };
  }

  /** What changed since the version that the task works on; without one, since the publisher started. */
  #published(node: Node, name: string): Produced | undefined {
    const needed = findInterface(node, name);
    const newest = needed && standing(this.#state, needed);
    if (!newest) return undefined;
    const { version, commit } = newest;
    const under = versionUnder(node, needed);
    const before = needed.versions.find((one) => one.version === under)?.commit;
    // Whoever did not start from it would bring in files that may never be merged.
    const isForAll = this.#state.nodes.get(newest.task)?.state === 'done';
    const value = newest.valueRef ? this.#state.read(newest.valueRef) : newest.value;
    return {
      name: `${API_NEED}${name}`,
      place: fileName(`api-${name}@${under}-${version}`),
      state: under === version ? `version ${version}, which you started from` : `version ${version}`,
      ...(value !== undefined && { output: value }),
      summary: tellPublication(this.#state, newest),
      ...(commit !== undefined &&
        (under > 0 || isForAll) && { diff: { from: before ?? `${commit}^1`, to: commit } }),
    };
  }
}
