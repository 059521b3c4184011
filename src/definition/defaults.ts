/** Fills in what `defaults` of a workflow gives its tasks and agents, before anything is checked. It checks nothing. */
import { Defaults, type Agent } from '../contract/workflow.ts';
import { fieldFits, taskKind } from './check/tasks.ts';
import type { Path, Problem } from './source/problem.ts';
import { isFields, type Fields } from '../base/fields.ts';

interface Filled {
  /** Without `defaults`, unless they are wrong themselves and left for the schema to refuse. */
  data: unknown;
  /** What agents that are files get where they do not give it. */
  agent: Partial<Agent>;
  /** The problem at the place where its cause is written, which may be under `defaults`. */
  trace(problem: Problem): Problem;
}

/** Which program an agent is, and what only that one understands: an agent with a runtime of its own takes none of them. */
const PROGRAM = ['runtime', 'model', 'command', 'usage', 'fallback'] as const;

/** Field by field: one that a task or an agent gives itself replaces the default as a whole. */
export function fillDefaults(data: unknown): Filled {
  const asIs: Filled = { data, agent: {}, trace: (problem) => problem };
  if (!isFields(data) || data['defaults'] === undefined) return asIs;
  const { defaults, ...rest } = data;
  const parsed = Defaults.safeParse(defaults);
  if (!parsed.success) return asIs;
  const { task = {}, agent = {} } = defaults as { task?: Fields; agent?: Fields };

  const sources = new Map<string, Path>();
  const fill = (own: Fields, at: Path, kind: 'task' | 'agent', fits: (field: string) => boolean): Fields => {
    const from = kind === 'task' ? task : agent;
    const missing = Object.keys(from).filter((field) => own[field] === undefined && fits(field));
    for (const field of missing) sources.set(keyOf([...at, field]), ['defaults', kind, field]);
    return { ...own, ...Object.fromEntries(missing.map((field) => [field, from[field]])) };
  };
  const fillAgent = (own: Fields, at: Path): Fields =>
    fill(
      own,
      at,
      'agent',
      (field) => own['runtime'] === undefined || !PROGRAM.some((name) => name === field),
    );
  const fillTask = (own: Fields, at: Path): Fields => {
    const has = (field: string): boolean => (own[field] ?? task[field]) !== undefined;
    const whole = fill(own, at, 'task', (field) => {
      if (field === 'agent') return taskKind(own) === undefined;
      // Nothing is tried twice that nothing can refuse.
      if (field === 'attempts' && !['check', 'output', 'expand'].some(has)) return false;
      return fieldFits(field, taskKind(own) ?? 'agent');
    });
    const { agent: inner } = whole;
    return isFields(inner) ? { ...whole, agent: fillAgent(inner, [...at, 'agent']) } : whole;
  };
  const each = (key: string, one: (own: Fields, at: Path) => Fields): Fields => {
    const entries = rest[key];
    if (!isFields(entries)) return {};
    const filled = Object.entries(entries).map(([name, own]) => [
      name,
      isFields(own) ? one(own, [key, name]) : own,
    ]);
    return { [key]: Object.fromEntries(filled) as Fields };
  };
  return {
    data: { ...rest, ...each('agents', fillAgent), ...each('tasks', fillTask) },
    agent: withoutProgram(parsed.data.agent),
    trace: (problem) => {
      // `agents.NAME.FIELD` or `tasks.NAME.FIELD`, or `tasks.NAME.agent.FIELD`.
      for (const length of [3, 4]) {
        const source = sources.get(keyOf(problem.path.slice(0, length)));
        if (source) return { ...problem, path: [...source, ...problem.path.slice(length)] };
      }
      return problem;
    },
  };
}

function withoutProgram(agent: Partial<Agent> = {}): Partial<Agent> {
  const rest = { ...agent };
  for (const field of PROGRAM) delete rest[field];
  return rest;
}

function keyOf(path: Path): string {
  return path.join('\0');
}
