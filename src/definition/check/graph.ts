/** Checks who needs whom: unknown names, circles, needs that can never be met. */
import type { Tasks } from '../../contract/workflow.ts';
import { API_NEED } from '../../contract/workflow-words.ts';
import { didYouMean } from '../../base/suggest.ts';
import { SUGGESTIONS_MAX, type Problem } from '../source/problem.ts';

const CIRCLE_NAMES_SHOWN_MAX = 20;

export interface Graph {
  problems: Problem[];
  /** Whether `other` has ended whenever `task` starts; undefined where circles make the question moot. */
  isUpstream(task: string, other: string): boolean | undefined;
}

interface Edge {
  to: number;
  /** Its place in `needs`. */
  at: number;
}

export function checkGraph(tasks: Tasks): Graph {
  const names = Object.keys(tasks);
  const numbers = new Map(names.map((name, n) => [name, n]));
  const problems: Problem[] = [];
  const publishers = findPublishers(tasks, problems);
  const edges = names.map((name, n): Edge[] => {
    const found: Edge[] = [];
    for (const [at, need] of tasks[name]!.needs.entries()) {
      const problem = (message: string): void =>
        void problems.push({ path: ['tasks', name, 'needs', at], message });
      if (need.startsWith(API_NEED)) {
        const published = need.slice(API_NEED.length);
        const from = publishers.get(published);
        if (from === undefined) {
          const near = problems.length < SUGGESTIONS_MAX ? didYouMean(published, publishers.keys()) : '';
          problem(
            `task "${name}" needs "${need}", a need that can never be met: no task publishes "${published}"${near || `; add "publishes: [${published}]" to one`}`,
          );
        } else if (from === name)
          problem(`task "${name}" needs "${need}", which it publishes itself; remove the need`);
        else if (tasks[from]!.continuous)
          problem(
            `task "${name}" needs "${need}", but "${from}", which publishes it, is continuous and ends after all other tasks; let another task publish it, or remove the need`,
          );
        else found.push({ to: numbers.get(from)!, at });
        continue;
      }
      const to = numbers.get(need);
      if (to === undefined) {
        const near = problems.length < SUGGESTIONS_MAX ? didYouMean(need, names) : '';
        problem(
          `task "${name}" needs "${need}", but there is no such task${near || '; add it or remove the need'}`,
        );
      } else if (to === n) problem(`task "${name}" needs itself; remove the need`);
      else if (tasks[need]!.continuous && !tasks[name]!.continuous)
        problem(
          `task "${name}" needs "${need}", which is continuous and ends after all other tasks; remove the need`,
        );
      else found.push({ to, at });
    }
    return found;
  });

  const circles = findCircles(edges);
  for (const circle of circles) {
    const shown = circle.slice(0, CIRCLE_NAMES_SHOWN_MAX).map((step) => names[step.from]!);
    const left = circle.length - shown.length;
    const way = [...shown, ...(left > 0 ? [`… (${left} more)`] : []), names[circle[0]!.from]!].join(' → ');
    problems.push({
      path: ['tasks', names[circle[0]!.from]!, 'needs', circle[0]!.at],
      message: `tasks need each other in a circle: ${way}; remove one of these needs`,
    });
  }

  // A publication comes before its task has ended, so that such a need makes nothing upstream.
  const ended = edges.map((list, n) =>
    list.filter((e) => !tasks[names[n]!]!.needs[e.at]!.startsWith(API_NEED)).map((e) => e.to),
  );
  let upstream: Uint32Array[] | undefined;
  return {
    problems,
    isUpstream(task, other) {
      const [n, wanted] = [numbers.get(task)!, numbers.get(other)!];
      if (ended[n]!.includes(wanted)) return true;
      if (circles.length > 0) return undefined;
      upstream ??= closure(ended);
      return (upstream[n]![wanted >>> 5]! & (1 << (wanted & 31))) !== 0;
    },
  };
}

/** One for each interface, so that who needs it knows whom it waits for. */
function findPublishers(tasks: Tasks, problems: Problem[]): Map<string, string> {
  const publishers = new Map<string, string>();
  for (const [name, task] of Object.entries(tasks)) {
    for (const [at, published] of (task.publishes ?? []).entries()) {
      const other = publishers.get(published);
      if (other === undefined) publishers.set(published, name);
      else {
        const twice = other === name ? ' twice' : `, but task "${other}" does too`;
        const message = `task "${name}" publishes "${published}"${twice}; an interface has one publisher: rename or remove one`;
        problems.push({ path: ['tasks', name, 'publishes', at], message });
      }
    }
  }
  return publishers;
}

interface Step {
  from: number;
  at: number;
}

/** Depth first, without recursion: a chain may be thousands of tasks long. No task is told of twice. */
function findCircles(edges: Edge[][]): Step[][] {
  const circles: Step[][] = [];
  const state = new Uint8Array(edges.length); // 0 not seen, 1 on the way, 2 done
  const told = new Uint8Array(edges.length);
  const next = new Uint32Array(edges.length);
  for (let root = 0; root < edges.length; root++) {
    if (state[root] !== 0) continue;
    const way = [root];
    state[root] = 1;
    while (way.length > 0) {
      const n = way.at(-1)!;
      const edge = edges[n]![next[n]!++];
      if (!edge) {
        state[n] = 2;
        way.pop();
      } else if (state[edge.to] === 0) {
        state[edge.to] = 1;
        way.push(edge.to);
      } else if (state[edge.to] === 1) {
        const circle = way.slice(way.indexOf(edge.to));
        if (circle.some((member) => told[member])) continue;
        for (const member of circle) told[member] = 1;
        circles.push(circle.map((from) => ({ from, at: edges[from]![next[from]! - 1]!.at })));
      }
    }
  }
  return circles;
}

/** For each task, a bit for each task before it: words at a time, since there may be 20,000 of them. */
function closure(needs: number[][]): Uint32Array[] {
  const words = (needs.length + 31) >>> 5;
  const rows: Uint32Array[] = [];
  const pending: number[] = [];
  for (let root = 0; root < needs.length; root++) {
    pending.push(root);
    while (pending.length > 0) {
      const n = pending.at(-1)!;
      if (rows[n]) {
        pending.pop();
        continue;
      }
      const waits = needs[n]!.filter((need) => !rows[need]);
      if (waits.length > 0) {
        pending.push(...waits);
        continue;
      }
      const row = new Uint32Array(words);
      for (const need of needs[n]!) {
        const other = rows[need]!;
        for (let w = 0; w < words; w++) row[w]! |= other[w]!;
        row[need >>> 5]! |= 1 << (need & 31);
      }
      rows[n] = row;
      pending.pop();
    }
  }
  return rows;
}
