/** Checks the expressions of a workflow as far as that can be done before it runs. */
import type { Scope, Task, Workflow } from '../../contract/workflow.ts';
import { API_NEED, judgeOf } from '../../contract/workflow-words.ts';
import { didYouMean } from '../../base/suggest.ts';
import { splitTemplate } from '../../schedule/expression/template.ts';
import {
  checkExpression,
  ExpressionError,
  references,
  unwrap,
} from '../../schedule/expression/expression.ts';
import { isTemplate } from '../../schedule/workflow/glob-template.ts';
import { hasTemplate, ITEM_FIELDS } from '../../schedule/workflow/item-fields.ts';
import { templateProblem } from '../../schedule/workflow/item-scope.ts';
import type { Graph } from './graph.ts';
import { describe, SUGGESTIONS_MAX, type Path, type Problem } from '../source/problem.ts';

interface Place {
  workflow: Workflow;
  graph: Graph;
  task: string;
  hasEach: boolean;
  /** All that tasks publish. */
  published: ReadonlySet<string>;
  /** How many more names may be compared with all others. */
  left: { suggestions: number };
}

const WHERE =
  'prompt, run, check, judge, env, with, artifacts, approve, finalize, if, for-each, and in write, shared and hide of the scope of a task with for-each';

export function checkExpressions(workflow: Workflow, graph: Graph): Problem[] {
  const problems = [
    ...forbidden(workflow.workspace, ['workspace']),
    ...forbidden(workflow.merge, ['merge']), // it runs long after the run: there is nothing to fill it in with
  ];
  for (const [name, agent] of Object.entries(workflow.agents))
    problems.push(...forbidden(agent, ['agents', name]));
  const published = new Set(Object.values(workflow.tasks).flatMap(({ publishes }) => publishes ?? []));
  const all = { workflow, graph, published, left: { suggestions: SUGGESTIONS_MAX } };
  for (const [name, task] of Object.entries(workflow.tasks))
    problems.push(...checkTask({ ...all, task: name, hasEach: task['for-each'] !== undefined }, task));
  return problems;
}

function checkTask(place: Place, task: Task): Problem[] {
  const path = ['tasks', place.task];
  const problems: Problem[] = [];
  const template = (text: string | undefined, ...field: (string | number)[]): void => {
    if (text?.includes('${{')) problems.push(...checkTemplate(place, text, [...path, ...field]));
  };
  const whole = (
    text: string,
    field: string,
    types: readonly string[],
    wanted: string,
    hasEach: boolean,
  ): void => {
    problems.push(...checkWhole({ ...place, hasEach }, text, [...path, field], types, wanted));
  };
  const items = task['for-each'];
  if (task.if !== undefined) whole(task.if, 'if', ['bool'], 'true or false', place.hasEach);
  if (typeof items === 'string') whole(items, 'for-each', ['list'], 'a list', false);
  else if (items) problems.push(...forbidden(items, [...path, 'for-each']));
  template(task.prompt, 'prompt');
  template(task.run, 'run');
  template(task.check, 'check');
  const judge = judgeOf(task);
  if (judge && 'check' in judge) template(judge.check, 'judge', 'check');
  else template(judge?.prompt, 'judge', 'prompt');
  for (const [n, glob] of (task.artifacts ?? []).entries()) template(glob, 'artifacts', n);
  template(task.finalize, 'finalize');
  if (typeof task.approve === 'string') template(task.approve, 'approve');
  else template(task.approve?.question, 'approve', 'question');
  for (const [key, text] of Object.entries(task.env ?? {})) template(text, 'env', key);
  for (const [key, value] of Object.entries(task.with ?? {})) {
    if (typeof value === 'string') template(value, 'with', key);
    else problems.push(...forbidden(value, [...path, 'with', key]));
  }
  problems.push(...checkScope(place, task.scope ?? {}, [...path, 'scope']));
  const { uses, workspace } = task;
  const agent = typeof task.agent === 'object' ? task.agent : undefined;
  for (const [key, value] of Object.entries({ uses, workspace, agent })) {
    if (value !== undefined) problems.push(...forbidden(value, [...path, key]));
  }
  return problems;
}

/** A scope is known as soon as its item is: it speaks of nothing else, and only where it stays in the repository. */
function checkScope(place: Place, scope: Scope, path: Path): Problem[] {
  return Object.entries(scope).flatMap(([field, value]): Problem[] => {
    if (!place.hasEach || !Array.isArray(value) || !ITEM_FIELDS.some((known) => known === field))
      return forbidden(value, [...path, field]);
    return value.flatMap((glob, n): Problem[] => {
      if (!isTemplate(glob)) return [];
      const at = [...path, field, n];
      const problems = checkTemplate(place, glob, at);
      if (problems.length > 0) return problems;
      const expressions = splitTemplate(glob).flatMap((part) =>
        part.kind === 'expression' ? [part.expression] : [],
      );
      const isOther = expressions.some((one) => {
        const { tasks, every, apis, inputs, each } = references(one);
        return !each || every || tasks.size + apis.size + inputs.size > 0;
      });
      const problem = isOther
        ? 'may speak of "each" and "index" only: who owns which files must be known when the items are'
        : templateProblem(glob);
      return problem === undefined
        ? []
        : [{ path: at, message: `"${glob}" in ${describe([...path, field])} ${problem}` }];
    });
  });
}

/** What only the run can tell. */
export function warnAboutItems(workflow: Workflow): string[] {
  return Object.entries(workflow.tasks).flatMap(([name, task]) =>
    typeof task['for-each'] === 'string' && hasTemplate(task)
      ? [
          `the scopes of the items of task "${name}" are known only once it runs: whether they overlap, or are those of other tasks, cannot be checked before`,
        ]
      : [],
  );
}

function checkTemplate(place: Place, text: string, path: Path): Problem[] {
  try {
    return splitTemplate(text).flatMap((part) =>
      part.kind === 'expression' ? checkOne(place, part.expression, path) : [],
    );
  } catch (error) {
    return [failure(error, path)];
  }
}

function checkWhole(
  place: Place,
  text: string,
  path: Path,
  types: readonly string[],
  wanted: string,
): Problem[] {
  try {
    const expression = unwrap(text);
    const problems = checkOne(place, expression, path);
    if (problems.length > 0) return problems;
    const checked = checkExpression(expression);
    const fits = 'problem' in checked || ['dyn', ...types].some((type) => checked.type.startsWith(type));
    if (fits) return [];
    return [
      { path, message: `${describe(path)} must give ${wanted}, but "${expression}" gives ${checked.type}` },
    ];
  } catch (error) {
    return [failure(error, path)];
  }
}

function failure(error: unknown, path: Path): Problem {
  if (!(error instanceof ExpressionError || error instanceof SyntaxError)) throw error;
  return { path, message: `${describe(path)}: ${error.message}`, find: '${{' };
}

/** In a command, a value is put in through a variable, which the shell leaves alone in single quotes. */
export function warnAboutQuotes(workflow: Workflow): string[] {
  return Object.entries(workflow.tasks).flatMap(([name, { run }]) => {
    if (!run?.includes("'") || !run.includes('${{')) return [];
    let quote = '';
    for (const part of splitTemplate(run)) {
      if (part.kind === 'expression') {
        if (quote !== "'") continue;
        return [
          `task "${name}" has "\${{ ${part.expression} }}" in single quotes, where the shell does not fill it in; use double quotes`,
        ];
      }
      for (const [char] of part.text.replaceAll(/\\./g, '').matchAll(/['"]/g)) {
        if (quote === '') quote = char;
        else if (quote === char) quote = '';
      }
    }
    return [];
  });
}

/** One expression: that it can be read, and that what it speaks of is there when the task starts. */
function checkOne(place: Place, expression: string, path: Path): Problem[] {
  const { workflow, graph, task } = place;
  const problem = (message: string, find: string = expression): Problem[] => [{ path, message, find }];
  const dashed = findDashed(expression, place);
  if (dashed) {
    const message = `"-" means minus in an expression; write ${dashed.of}['${dashed.name}'] and not ${dashed.of}.${dashed.name}`;
    return problem(message, `${dashed.of}.${dashed.name}`);
  }
  const checked = checkExpression(expression);
  if ('problem' in checked) return problem(`${describe(path)}: ${checked.problem}`);
  const found = references(expression);
  const problems: Problem[] = [];
  if (found.each && !place.hasEach) {
    problems.push(
      ...problem(`${describe(path)} speaks of "each" or "index", which only a task with for-each has`),
    );
  }
  for (const name of found.inputs) {
    if (Object.hasOwn(workflow.inputs, name)) continue;
    const close = near(place, name, workflow.inputs) || '; add it under "inputs"';
    problems.push(
      ...problem(`${describe(path)} speaks of the input "${name}", which is not declared${close}`),
    );
  }
  for (const name of found.apis) {
    if (workflow.tasks[task]!.needs.includes(`${API_NEED}${name}`)) continue;
    problems.push(
      ...problem(
        `${describe(path)} speaks of the interface "${name}", which need not be published by then; add ${API_NEED}${name} to "needs"`,
      ),
    );
  }
  for (const name of found.tasks) {
    if (!Object.hasOwn(workflow.tasks, name)) {
      const close = near(place, name, workflow.tasks);
      problems.push(
        ...problem(`${describe(path)} speaks of the task "${name}", which does not exist${close}`),
      );
    } else if (name === task) {
      problems.push(
        ...problem(`${describe(path)} speaks of the task itself, which has no output before it ends`),
      );
    } else if (graph.isUpstream(task, name) === false) {
      problems.push(
        ...problem(
          `${describe(path)} speaks of the task "${name}", which need not have ended by then; add ${name} to "needs"`,
        ),
      );
    }
  }
  return problems;
}

function near({ left }: Place, name: string, known: object): string {
  return left.suggestions-- > 0 ? didYouMean(name, Object.keys(known)) : '';
}

/** `tasks.my-task` or `apis.my-api`, where that is meant as a name. */
function findDashed(expression: string, place: Place): { of: string; name: string } | undefined {
  const { tasks, inputs } = place.workflow;
  const isNamed = {
    tasks: (name: string) => Object.hasOwn(tasks, name),
    inputs: (name: string) => Object.hasOwn(inputs, name),
    apis: (name: string) => place.published.has(name),
  };
  for (const match of expression.matchAll(/\b(tasks|inputs|apis)\.([A-Za-z_]\w*(?:-\w+)+)/g)) {
    const of = match[1] as keyof typeof isNamed;
    for (let name = match[2]!; name.includes('-'); name = name.slice(0, name.lastIndexOf('-'))) {
      if (isNamed[of](name)) return { of, name };
    }
  }
  return undefined;
}

/** Expressions where nobody fills them in: to pass them on as they are would be a nasty surprise. */
function forbidden(value: unknown, path: Path): Problem[] {
  if (typeof value === 'string') {
    if (!value.includes('${{')) return [];
    return [{ path, find: '${{', message: `expressions are not filled in here; they work in ${WHERE}` }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'description' ? [] : forbidden(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
