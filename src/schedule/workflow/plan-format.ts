/** What a planner (an agent of a task with `expand`) is told of its output, and the schema that it is held to. Pure. */
import type { Json, Workflow } from '../../contract/workflow.ts';

const AGENTS_SHOWN_MAX = 100;
const DESCRIPTION_CHARS_MAX = 200;

const text = (description: string): Json => ({ type: ['string', 'null'], description });

function globs(description: string): Json {
  return { type: ['array', 'null'], items: { type: 'string' }, description };
}

const SCOPE = {
  type: ['object', 'null'],
  properties: {
    write: globs(
      'The files that the task owns: globs such as src/parser/**. Null for all that its agent may change.',
    ),
    shared: globs('Files that other tasks may change at the same time.'),
  },
  description: 'What the task may change. No two tasks that can run at the same time may own one file.',
};

/** Strict, as some models ask for it: every field is there, and null where it says nothing. */
const TASK_FIELDS: Record<string, Json> = {
  name: { type: 'string', description: 'Letters, digits, "-" and "_"; each once.' },
  description: text('What the task is for, in a few words.'),
  needs: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description:
      'Names of tasks of this plan that must be done first, or api:NAME for what one of them publishes before its end.',
  },
  publishes: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Names of interfaces that the task publishes while it works, for tasks that need api:NAME.',
  },
  agent: text('Who does it: one of the agents named in the prompt. Not together with run.'),
  prompt: text('The prompt of its agent.'),
  run: text('A shell command, instead of an agent and a prompt.'),
  check: text('A shell command that must succeed before the work counts.'),
  scope: SCOPE,
};

const PLAN = { type: 'object', required: ['tasks'], additionalProperties: false };
const { name: _, ...UNNAMED } = TASK_FIELDS;

/** `isStrict`: for models that take no other schema. Else a plan is what the page says; `checkExpansion` judges it. */
export function planSchema(isStrict: boolean): Record<string, Json> {
  const task = { type: 'object', properties: TASK_FIELDS };
  if (isStrict) {
    const scope = { ...SCOPE, required: Object.keys(SCOPE.properties), additionalProperties: false };
    const properties = { ...TASK_FIELDS, scope };
    const items = { ...task, properties, required: Object.keys(properties), additionalProperties: false };
    return { ...PLAN, properties: { tasks: { type: 'array', items } } };
  }
  const list = { type: 'array', items: { ...task, required: ['name'] } };
  const map = { type: 'object', additionalProperties: { type: 'object', properties: UNNAMED } };
  return { ...PLAN, properties: { tasks: { anyOf: [list, map] } } };
}

/** Goes after the prompt of the planner. */
export function planFormat({ agents }: Pick<Workflow, 'agents'>, tasksMax: number): string {
  const shown = Object.entries(agents).slice(0, AGENTS_SHOWN_MAX);
  const lines = shown.map(([name, { description, scope }]) => {
    const what = description === undefined ? '' : `: ${description.slice(0, DESCRIPTION_CHARS_MAX)}`;
    const where = scope?.write === undefined ? '' : ` (may change ${scope.write.join(', ') || 'nothing'})`;
    return `- ${name}${what}${where}`;
  });
  return [
    'Your output is a plan: tasks that are then carried out, each from the files as they are once its needs are done.',
    `It is JSON of this form, with at most ${tasksMax} tasks:`,
    '{ "tasks": [{ "name": "parser", "description": "Write the parser", "needs": [], "agent": "NAME", "prompt": "…", "check": "npm test", "scope": { "write": ["src/parser/**"] } }, { "name": "lint", "needs": ["parser"], "run": "npm run lint" }] }',
    'A task has either an agent and a prompt, or a run command. A task without an agent may change no more than you may.',
    'A task with "publishes": ["NAME"] tells its agent to publish that interface as soon as others can build on it; a task that needs "api:NAME" then starts at once, on its files of that moment.',
    '"write" of its scope names the files that a task owns: tasks that do not need each other must not own the same file.',
    lines.length > 0
      ? `The agents are:\n${lines.join('\n')}`
      : 'There are no agents, so every task has a run command.',
  ].join('\n');
}
