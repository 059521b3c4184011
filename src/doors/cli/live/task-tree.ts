/** The tasks of a workflow as a tree for people: each below the last of the tasks that it needs. */
import type { Task, Workflow } from '../../../contract/workflow.ts';
import { API_NEED } from '../../../contract/workflow-words.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { formatCount } from '../../../base/format-count.ts';
import type { Paint } from '../output.ts';

const LINES_MAX = 200;
const NAME_COLUMNS_MAX = 40;

interface Line {
  name: string;
  text: string;
}

export function renderTree(workflow: Workflow, paint: Paint, columns: number): string[] {
  const lines = linesOf(workflow);
  const shown = lines.slice(0, LINES_MAX);
  const width = Math.min(NAME_COLUMNS_MAX, Math.max(...shown.map(({ name }) => columnsOf(name))));
  const rendered = shown.map(({ name, text }) => {
    const rest = fitColumns(text, Math.max(10, columns - width - 4));
    return `  ${padColumns(fitColumns(name, width), width)}  ${paint('quiet', rest)}`.trimEnd();
  });
  if (lines.length > LINES_MAX) rendered.push(`  … and ${formatCount(lines.length - LINES_MAX)} more`);
  return rendered;
}

function linesOf(workflow: Workflow): Line[] {
  const names = Object.keys(workflow.tasks);
  const depths = depthsOf(workflow);
  const below = new Map<string | undefined, string[]>();
  for (const name of names) {
    const above = aboveOf(workflow.tasks[name]!, depths);
    below.set(above, [...(below.get(above) ?? []), name]);
  }
  const lines: Line[] = [];
  // A chain of thousands of tasks is as deep: no recursion.
  const stack: { name: string; prefix: string; branch: string }[] = [];
  const push = (parent: string | undefined, prefix: string): void => {
    const children = below.get(parent) ?? [];
    for (const [index, name] of [...children.entries()].toReversed()) {
      const branch = parent === undefined ? '' : index === children.length - 1 ? '└─ ' : '├─ ';
      stack.push({ name, prefix, branch });
    }
  };
  push(undefined, '');
  for (let at = stack.pop(); at && lines.length < LINES_MAX; at = stack.pop()) {
    const { name, prefix, branch } = at;
    lines.push({ name: `${prefix}${branch}${name}`, text: describeTask(workflow.tasks[name]!, workflow) });
    push(name, branch === '' ? prefix : prefix + (branch === '├─ ' ? '│  ' : '   '));
  }
  for (let n = lines.length; n < names.length; n++) lines.push({ name: '', text: '' });
  return lines;
}

/** How many tasks lie before each, at the longest. A checked workflow has no cycle. */
function depthsOf({ tasks }: Workflow): Map<string, number> {
  const depths = new Map<string, number>();
  const waiting = Object.keys(tasks);
  while (waiting.length > 0) {
    const name = waiting.at(-1)!;
    const needs = tasks[name]!.needs.filter((need) => Object.hasOwn(tasks, need));
    const open = needs.filter((need) => !depths.has(need));
    if (open.length > 0) waiting.push(...open);
    else {
      depths.set(name, Math.max(0, ...needs.map((need) => depths.get(need)! + 1)));
      waiting.pop();
    }
  }
  return depths;
}

function aboveOf({ needs }: Task, depths: Map<string, number>): string | undefined {
  let above: string | undefined;
  for (const need of needs) {
    if (depths.has(need) && (above === undefined || depths.get(need)! >= depths.get(above)!)) above = need;
  }
  return above;
}

function describeTask(task: Task, workflow: Workflow): string {
  const parts: string[] = [];
  if (task['for-each'] !== undefined) {
    const list = task['for-each'];
    parts.push(Array.isArray(list) ? `for each of ${list.length}` : `for each of ${list}`);
  }
  parts.push(whatOf(task, workflow));
  if (typeof task.race === 'number') parts.push(`race of ${task.race}`);
  if (task.if !== undefined) parts.push(`if ${task.if}`);
  if (task.check !== undefined) parts.push(`check: ${task.check}`);
  if (task.attempts > 1) parts.push(`up to ${task.attempts} attempts`);
  if (task.expand) parts.push('its output is further tasks');
  if (task.needs.length > 1 || task.needs.some((need) => need.startsWith(API_NEED)))
    parts.push(`needs ${task.needs.join(', ')}`);
  return plainLine(parts.filter(Boolean).join(' · '));
}

function whatOf(task: Task, workflow: Workflow): string {
  if (task.run !== undefined) return `$ ${firstLine(task.run)}`;
  if (task.approve !== undefined)
    return `asks: ${typeof task.approve === 'string' ? task.approve : task.approve.question}`;
  if (task.uses !== undefined) {
    const nested = workflow.nested?.[task.uses];
    return nested ? `uses ${task.uses} (${Object.keys(nested.tasks).length} tasks)` : `uses ${task.uses}`;
  }
  if (Array.isArray(task.race)) return `race: ${task.race.join(', ')}`;
  if (task.handoff) return `handoff: ${task.handoff.join(', ')}`;
  if (typeof task.agent === 'string') return `${task.agent} (${workflow.agents[task.agent]?.runtime ?? '?'})`;
  return task.agent ? task.agent.runtime : '';
}

function firstLine(text: string): string {
  const [first, ...more] = text.trim().split('\n');
  return more.length > 0 ? `${first} …` : first!;
}
