/** Checks that each task says one thing to do, and holds only fields that mean something for it. */
import { z } from 'zod';
import { JSON_DEPTH_MAX, parseJson } from '../../base/parse-json.ts';
import { wordList } from '../../base/word-list.ts';
import { boundedLabel } from '../../contract/question.ts';
import type { Task, Workflow } from '../../contract/workflow.ts';
import type { Problem } from '../source/problem.ts';

/** `race` where it names who does the task; with a number of candidates that is said elsewhere. */
const KINDS = ['run', 'agent', 'uses', 'approve', 'handoff', 'race'] as const;
type Kind = (typeof KINDS)[number];

const ITEMS_MAX = 10_000;
const SCHEMA_CHARS_MAX = 256 * 1024;

const MERGED: readonly Kind[] = ['run', 'agent', 'handoff'];
const WORK: readonly Kind[] = [...MERGED, 'race'];
const RACED: readonly Kind[] = ['run', 'agent', 'race'];

/** Which kinds of task a field means something for; fields that are not here fit all. */
const FITS: Partial<Record<keyof Task, readonly Kind[]>> = {
  prompt: ['agent', 'handoff', 'race'],
  with: ['uses'],
  rounds: ['handoff'],
  race: RACED,
  judge: RACED,
  continuous: ['run', 'agent'],
  finalize: ['agent'],
  publishes: MERGED,
  summarize: ['agent', 'handoff', 'race'],
  expand: MERGED,
  replan: MERGED,
  output: WORK,
  check: WORK,
  attempts: WORK,
  retry: WORK,
  timeout: WORK,
  artifacts: WORK,
  workspace: WORK,
  scope: WORK,
  limits: WORK,
  env: WORK,
  'on-conflict': WORK,
  budget: [...WORK, 'uses'],
};
const FIELDS = Object.entries(FITS) as [keyof Task, readonly Kind[]][];

/** What a task does, as far as it says so. */
export function taskKind(task: { [kind in Kind]?: unknown }): Kind | undefined {
  return KINDS.find((kind) => isKind(task, kind));
}

function isKind(task: { [kind in Kind]?: unknown }, kind: Kind): boolean {
  return kind === 'race' ? Array.isArray(task.race) : task[kind] !== undefined;
}

export function fieldFits(field: string, kind: Kind): boolean {
  return FITS[field as keyof Task]?.includes(kind) ?? true;
}

export function checkTasks(workflow: Workflow): Problem[] {
  return Object.entries(workflow.tasks).flatMap(([name, task]) => checkTask(name, task));
}

/** What is worth saying and not wrong. */
export function warnAboutTasks(workflow: Workflow): string[] {
  return Object.entries(workflow.tasks).flatMap(([name, task]) =>
    task.attempts > 1 && task.check === undefined && task.output === undefined && !task.expand
      ? [`task "${name}" has "attempts" but no "check", so it gets only one attempt; see "retry"`]
      : [],
  );
}

function checkTask(name: string, task: Task): Problem[] {
  const path = ['tasks', name];
  const it = `task "${name}"`;
  const problems: Problem[] = [];
  const add = (field: keyof Task, message: string): void => {
    problems.push({ path: [...path, field], atKey: true, message });
  };

  const kinds = KINDS.filter((kind) => isKind(task, kind));
  const [kind, second] = kinds;
  if (kind === undefined) {
    const message =
      task.prompt === undefined
        ? `${it} has nothing to do; give it one of run, agent (with prompt), uses, approve, handoff or race (with agents and a prompt)`
        : `${it} has a prompt but no agent; add "agent: <name>"`;
    return [{ path, atKey: true, message }];
  }
  if (second !== undefined) {
    add(
      second,
      `${it} has both "${kind}" and "${second}"; a task does one thing: make it two tasks, or remove one`,
    );
    return problems;
  }
  if (kind === 'agent' && task.prompt === undefined) {
    add('agent', `${it} has an agent but no prompt; add "prompt: <what to do>"`);
  }
  if (kind === 'race' && task.prompt === undefined) {
    add('race', `${it} names agents but has no prompt; add "prompt: <what to do>"`);
  }
  for (const [field, fits] of FIELDS) {
    if (task[field] === undefined || fits.includes(kind) || (field === 'attempts' && task.attempts === 1))
      continue;
    if (field === 'expand' && task.expand === false) continue;
    add(
      field,
      `"${field}" of ${it} works only with ${wordList(fits, 'or')}, but the task has "${kind}"; remove it`,
    );
  }
  if (kind === 'agent' && task.finalize !== undefined && task.continuous === undefined) {
    add(
      'finalize',
      `"finalize" of ${it} works only with "continuous"; add "continuous: { every: 10m }" or remove it`,
    );
  }
  if (task.replan !== undefined && !task.expand) {
    add('replan', `"replan" of ${it} works only with "expand"; add "expand: true" or remove it`);
  }
  if (task.continuous && task.continuous.every === undefined && !task.continuous.on?.length) {
    add('continuous', `"continuous" of ${it} says neither "every" nor "on"; add one, such as "every: 10m"`);
  }
  if (task['for-each'] !== undefined && task.continuous) {
    add('continuous', `"continuous" of ${it} cannot be had with "for-each"; remove one of them`);
  }
  if (task.expand && task.continuous) {
    add('expand', `"expand" of ${it} cannot be had with "continuous"; remove one of them`);
  }
  problems.push(
    ...checkRace(name, task),
    ...checkItems(name, task),
    ...checkOutput(name, task),
    ...checkApprove(name, task),
  );
  return problems;
}

/** What is not merged yet can neither be published, nor be planned on, nor be repeated. */
function checkRace(name: string, task: Task): Problem[] {
  const path = ['tasks', name];
  if (task.race === undefined) {
    if (task.judge === undefined) return [];
    const message = `"judge" of task "${name}" works only with "race"; add "race: 3" or remove it`;
    return [{ path: [...path, 'judge'], atKey: true, message }];
  }
  const others = [
    ...(task.publishes?.length ? ['publishes'] : []),
    ...(task.expand ? ['expand'] : []),
    ...(task.continuous ? ['continuous'] : []),
  ];
  return others.map((field) => ({
    path: [...path, field],
    atKey: true,
    message: `"${field}" of task "${name}" cannot be had with "race"; remove one of them`,
  }));
}

function checkApprove(name: string, { approve }: Task): Problem[] {
  if (typeof approve !== 'object') return [];
  const { choices = ['yes', 'no'], default: fallback } = approve;
  const path = ['tasks', name, 'approve'];
  const unshown = choices.findIndex((label) => boundedLabel(label) !== label);
  if (unshown !== -1)
    return [
      {
        path: [...path, 'choices', unshown],
        message: `a choice of task "${name}" has characters that do not show, or blanks around it; write it in plain text`,
      },
    ];
  const twice = choices.findIndex((label, n) =>
    choices.slice(0, n).some((other) => other.toLowerCase() === label.toLowerCase()),
  );
  if (twice !== -1)
    return [
      {
        path: [...path, 'choices', twice],
        message: `task "${name}" has the choice "${choices[twice]}" twice; remove one`,
      },
    ];
  if (fallback === undefined || choices.includes(fallback)) return [];
  return [
    {
      path: [...path, 'default'],
      message: `"default" of task "${name}" must be ${wordList(choices, 'or')}, but is "${fallback}"`,
    },
  ];
}

function checkItems(name: string, task: Task): Problem[] {
  const items = task['for-each'];
  if (!Array.isArray(items)) return [];
  const path = ['tasks', name, 'for-each'];
  const it = `"for-each" of task "${name}"`;
  if (items.length === 0) return [{ path, message: `${it} is an empty list; add items or remove the task` }];
  if (items.length <= ITEMS_MAX) return [];
  return [{ path, message: `${it} has ${items.length} items; at most ${ITEMS_MAX} are allowed, split it` }];
}

/** A schema that nothing can read would only be noticed once the agent is done and paid for. */
function checkOutput(name: string, task: Task): Problem[] {
  if (task.output === undefined) return [];
  const path = ['tasks', name, 'output'];
  if (isTooLarge(task.output))
    return [
      {
        path,
        atKey: true,
        message: `"output" of task "${name}" is larger than ${SCHEMA_CHARS_MAX} characters or deeper than ${JSON_DEPTH_MAX}; simplify it`,
      },
    ];
  try {
    z.fromJSONSchema(task.output);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      {
        path,
        atKey: true,
        message: `"output" of task "${name}" is not a usable JSON Schema: ${why}`,
      },
    ];
  }
}

function isTooLarge(schema: unknown): boolean {
  try {
    const text = JSON.stringify(schema);
    return text.length > SCHEMA_CHARS_MAX || parseJson(text) === undefined;
  } catch {
    return true; // too deep even to be written
  }
}
