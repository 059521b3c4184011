/** Puts values into what the workflow says: prompts, commands, environments, inputs. Pure. */
import type { GivenFile } from '../../contract/event.ts';
import { EXPANSION_TASKS_MAX, type Input, type Json, type Task } from '../../contract/workflow.ts';
import { judgeOf } from '../../contract/workflow-words.ts';
import { normalizeGlob } from '../../base/glob-syntax.ts';
import { evaluate, parseTemplate, render, type ExpressionScope } from '../expression/expression.ts';
import { openAllowance, type Allowance } from '../expression/budget.ts';
import { ExpressionError } from '../expression/failure.ts';
import { Later, type Lazy } from '../expression/values.ts';
import type { GroupResult } from '../../contract/report.ts';
import { groupResult, membersOf, RESULT_CHARS_MAX } from './group-result.ts';
import { outputReader } from './outputs.ts';
import { standing, standingFor, tellPublication } from './publications.ts';
import { turnPrompt } from './handoff.ts';
import { planFormat } from './plan-format.ts';
import { PromptContext, type TooLong } from './prompt-context.ts';
import { judgePrompt } from './race.ts';
import { recapOf } from './recap.ts';
import { summaryPrompt, summaryReader } from './summary.ts';
import { hasFailed, writtenAs, type Node, type State } from '../state.ts';
import { withItem } from './with-item.ts';

const PURPOSE_CHARS_MAX = 2000;
const RUN_VARIABLE = 'BOSUN_VALUE_';
const CHECK_VARIABLE = 'BOSUN_CHECK_';
const SCORE_VARIABLE = 'BOSUN_SCORE_';

interface Work {
  prompt: string;
  env?: Record<string, string>;
  artifacts?: string[];
  recap?: string;
  files?: GivenFile[];
  /** What an agent is to sum up before the prompt is whole. */
  tooLong?: TooLong[];
}

/** What an attempt is given: the prompt of an agent, or the command of a `run` task. */
export function renderWork(state: State, node: Node): Work {
  const { task } = node;
  const allowance = openAllowance();
  const fill = (text: string): string => renderText(state, node, text, allowance);
  const context = new PromptContext(summaryReader(state, node));
  const fitted = (text: string): string => renderText(state, node, text, allowance, context);
  const env: Record<string, string> = {};
  // What a child has to pass is its parent's check, with the values and variables that the parent has.
  const elder = elderOf(node);
  const fillElder = (text: string): string => renderText(state, elder, text, allowance);
  for (const [key, text] of Object.entries(elder.task.env ?? {})) env[key] = fillElder(text);
  const prompt = node.resolving
    ? resolvePrompt(state, node)
    : task.run !== undefined
      ? renderCommand(task.run, fill, env, RUN_VARIABLE)
      : withFormat(node, withPublications(state, node, promptOf(state, node, fitted, context)));
  if (elder.task.check !== undefined) renderCommand(elder.task.check, fillElder, env, CHECK_VARIABLE);
  const score = scoreOf(task);
  if (score !== undefined) renderCommand(score, fill, env, SCORE_VARIABLE);
  const recap = recapOf(state, node, context);
  const artifacts = task.artifacts?.some((glob) => glob.includes('${{'))
    ? task.artifacts.map((glob) => artifactGlob(fill(glob)))
    : undefined;
  for (const [key, value] of [...Object.entries(env), ['the prompt', prompt] as const])
    if (value.includes('\0'))
      throw new ExpressionError(`${key} would hold a NUL character, which no command or variable can hold`);
  return {
    prompt,
    ...(Object.keys(env).length > 0 && { env }),
    ...(artifacts && { artifacts }),
    ...(recap !== undefined && { recap }),
    ...(context.files.length > 0 && { files: context.files }),
    ...(context.tooLong.length > 0 && { tooLong: context.tooLong }),
  };
}

function promptOf(state: State, node: Node, fill: (text: string) => string, context: PromptContext): string {
  const written = node.task.prompt ?? '';
  if (node.isChild) return written; // what an agent says is no template
  const own = fill(written);
  if (node.sums) return summaryPrompt(state, node, context);
  if (node.turn) return turnPrompt(state, node, own, context);
  if (!node.isJudge) return own;
  const { prompt, run } = node.parent!.task;
  return judgePrompt(state, node, prompt === undefined ? (run ?? '') : fill(prompt), own);
}

/** Who publishes is told what it announces, and who starts from a publication what was said with it. */
function withPublications(state: State, node: Node, prompt: string): string {
  const { publishes = [] } = node.task;
  const started = standingFor(state, node).map((publication) =>
    tellPublication(state, publication).replaceAll('\n', '\n  | '),
  );
  return [
    prompt,
    ...(started.length > 0 ? [`You start from what other agents published:\n${started.join('\n')}`] : []),
    ...(publishes.length > 0
      ? [
          `Others wait for what you publish (${publishes.join(', ')}), and start from your files of that moment: ` +
            'use the tool publish, or bosun agent publish NAME, as soon as they can build on it.',
        ]
      : []),
  ].join('\n\n');
}

/** A planner is told what a plan looks like: nobody should have to write that into every prompt. */
function withFormat({ task, workflow }: Node, prompt: string): string {
  return task.expand ? `${prompt}\n\n${planFormat(workflow, EXPANSION_TASKS_MAX)}` : prompt;
}

/**
 * A value never becomes part of a shell command: it goes into a variable, and the command names the variable.
 * So what an earlier agent wrote cannot run as code.
 */
function renderCommand(
  command: string,
  fill: (text: string) => string,
  env: Record<string, string>,
  variable: string,
): string {
  for (const [n, part] of parseTemplate(command).entries())
    if ('expression' in part) env[`${variable}${n}`] = fill(`\${{${part.expression}}}`);
  return commandOf(command, variable);
}

export interface Check {
  /** As it was written. */
  text: string;
  /** As the shell gets it: its values are in the environment of the attempt. */
  command: string;
}

/** What the work must pass, in this order: of a child, first what its parent's must. What an agent wrote is no template. */
export function checksOf(node: Node): Check[] {
  const { check: text } = node.task;
  const ofParent = node.isChild ? checksOf(node.parent!) : [];
  if (text === undefined) return ofParent;
  return [...ofParent, { text, command: node.isChild ? text : commandOf(text, CHECK_VARIABLE) }];
}

/** The task of the workflow, or of a plan, that a child and its parents belong to. */
function elderOf(node: Node): Node {
  return node.isChild ? elderOf(node.parent!) : node;
}

/** The same for the check that gives a candidate its score; undefined where there is none. */
export function scoreCommand(task: Task): string | undefined {
  const score = scoreOf(task);
  return score === undefined ? undefined : commandOf(score, SCORE_VARIABLE);
}

function scoreOf(task: Task): string | undefined {
  const judge = judgeOf(task);
  return judge && 'check' in judge ? judge.check : undefined;
}

function commandOf(command: string, variable: string): string {
  return parseTemplate(command)
    .map((part, n) => ('text' in part ? part.text : `\${${variable}${n}}`))
    .join('');
}

/** What was put in must not lead elsewhere. */
function artifactGlob(glob: string): string {
  const normalized = normalizeGlob(glob);
  if ('problem' in normalized) throw new ExpressionError(`"${glob}" in "artifacts" ${normalized.problem}`);
  return normalized.glob;
}

/** Texts that are filled in together share what their expressions may cost. */
export function renderText(
  state: State,
  node: Node,
  text: string,
  allowance?: Allowance,
  context?: PromptContext,
): string {
  if (!text.includes('${{')) return text;
  const fit = context && ((value: string, expression: string) => context.fit(value, expression));
  return render(text, expressionScope(state, node, text, allowance), fit);
}

/** What a task does in one line: what its author says of it, or how its prompt begins. */
export function titleOf(state: State, node: Node): string {
  const { description, prompt, run } = node.task;
  if (description !== undefined)
    return withItem(description, node, (item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  if (run !== undefined || prompt === undefined) return node.id;
  const first = (node.isChild ? prompt : renderText(state, node, prompt))
    .split('\n')
    .find((line) => line.trim() !== '');
  return first ?? node.id;
}

/** A value that is one whole expression keeps its type; a string with expressions in it stays a string. */
export function renderInputs(state: State, node: Node): Record<string, Json> {
  const nested = node.workflow.nested![node.task.uses!]!;
  const inputs: Record<string, Json> = {};
  const allowance = openAllowance();
  for (const [key, input] of Object.entries(nested.inputs))
    if (input.default !== undefined) inputs[key] = input.default;
  for (const [key, value] of Object.entries(node.task.with ?? {})) {
    if (typeof value !== 'string') inputs[key] = value;
    else {
      const parts = parseTemplate(value);
      const isWhole = parts.length === 1 && parts[0]?.kind === 'expression';
      inputs[key] = isWhole
        ? evaluate(value, expressionScope(state, node, value, allowance))
        : renderText(state, node, value, allowance);
      const wrong = misfit(nested.inputs[key]!, inputs[key]);
      if (wrong !== undefined)
        throw new ExpressionError(`input "${key}" of ${node.task.uses} ${wrong} (from ${value})`);
    }
  }
  return inputs;
}

/** What only the run can tell: whether a value that was computed is of the type that the input has. */
function misfit({ type, options }: Input, value: Json): string | undefined {
  const shown = JSON.stringify(value).slice(0, 100);
  if (typeof value !== type) return `must be a ${type}, but is ${shown}`;
  if (!options || options.some((option) => option === value)) return undefined;
  return `must be one of ${options.join(', ')}, but is ${shown}`;
}

/** What an expression of this node may speak of. Only the tasks it names are looked at: there may be thousands. */
export function expressionScope(
  state: State,
  node: Node,
  text: string,
  allowance: Allowance = openAllowance(),
): ExpressionScope {
  const asking = writtenAs(node);
  const names = new Set(asking.task.needs);
  for (const match of text.matchAll(/tasks(?:\.(\w+)|\[\s*['"]([^'"]+)['"]\s*\])/g))
    names.add(match[1] ?? match[2]!);
  const tasks: Record<string, ExpressionScope['tasks'][string]> = {};
  const outputOf = outputReader(state);
  const wantsResult = /\bresult\b/.test(text); // it takes a look at all tasks within
  for (const name of names) {
    const other = node.siblings.get(name);
    if (other)
      tasks[name] = {
        ...taskScope(other, outputOf),
        ...(wantsResult && { result: resultOf(other, outputOf) }),
      };
  }
  return {
    tasks,
    apis: apisScope(state, asking),
    inputs: node.inputs,
    run: { id: state.id, name: state.workflow.name },
    failed: asking.needs.some(hasFailed),
    allowance,
    ...(node.each && { each: node.each.value, index: node.each.index }),
  };
}

/** The version that stands when the task starts. */
function apisScope(state: State, { apis }: Node): NonNullable<ExpressionScope['apis']> {
  const found = apis.map((needed): [string, Readonly<Record<string, Lazy | undefined>>] => {
    const { value = null, valueRef, version } = standing(state, needed) ?? {};
    const later = valueRef && new Later(() => state.read(valueRef), valueRef.bytes);
    return [needed.name, { value: later ?? value, version, task: needed.publisher.name }];
  });
  return Object.fromEntries(found);
}

function taskScope(node: Node, outputOf: (node: Node) => Lazy): ExpressionScope['tasks'][string] {
  const output = outputOf(node);
  const outputs = node.kind === 'for-each' ? output : [output];
  return { state: node.state, output, outputs, changed: node.changedCount ?? 0 };
}

/** The same for each task within, and what came of all together. */
function resultOf(node: Node, outputOf: (node: Node) => Lazy): Lazy {
  const later = (field: keyof GroupResult): Later =>
    new Later(() => groupResult(node)[field], RESULT_CHARS_MAX);
  return {
    outputs: Object.fromEntries(
      membersOf(node).map((member) => [memberName(node, member), outputOf(member)]),
    ),
    done: later('done'),
    all: later('all'),
    failures: later('failures'),
    summary: later('summary'),
  };
}

/** Without that of the group, which is known. */
function memberName(group: Node, { label, name }: Node): string {
  const own = label.startsWith(group.label) ? label.slice(group.label.length) : label;
  return own === '' ? name : own.replace(/^\/|^\[(.*)\]$|^\./, (_, inside?: string) => inside ?? '');
}

function resolvePrompt(state: State, node: Node): string {
  const { conflict } = node.resolving!;
  const said = (id: string): string => {
    const { task } = state.nodes.get(id) ?? node;
    return `- ${id}: ${(task.prompt ?? task.run ?? '').slice(0, PURPOSE_CHARS_MAX)}`;
  };
  return [
    'Two lines of work changed the same files, and git could not merge them.',
    `These files are in conflict: ${conflict.files.join(', ')}.`,
    'Where they hold markers, what stands between <<<<<<< and ======= is theirs, what follows up to >>>>>>> is yours.',
    'Edit them so that both intentions are kept, and leave no marker behind. Change nothing else.',
    '',
    'Yours:',
    said(node.id),
    ...(conflict.with.length > 0 ? ['Theirs:', ...conflict.with.map(said)] : []),
  ].join('\n');
}
