/** What people see of a state: the views that are stored beside the events. */
import { formOf } from '../../contract/question.ts';
import type { Spending } from '../../contract/model.ts';
import type { Held, KeptQuestion, QuestionView, RunView, TaskView } from '../../contract/run.ts';
import { cutText } from '../../base/cut-text.ts';
import { agentOf } from '../workflow/agent-of.ts';
import { askForMore } from '../money/budget-words.ts';
import { limitsOf, RUN_ACCOUNT } from '../money/budget.ts';
import { hasEnded, nearestPaused, pauseOf, type Node, type OpenAsk, type State } from '../state.ts';

const ABOUT_CHARS_MAX = 80;

export function runView(state: State): RunView {
  return {
    id: state.id,
    name: state.workflow.name,
    ...aboutOf(state.workflow),
    state: state.state,
    createdAtMs: state.createdAtMs,
    ...(state.endedAtMs !== undefined && { endedAtMs: state.endedAtMs }),
    ...(state.idleMs > 0 && { idleMs: state.idleMs }),
    baseCommit: state.base,
    headCommit: state.head,
    branch: branchOf(state.id),
    counts: { ...state.counts },
    ...askingCount(state),
    ...(state.parent && { parent: state.parent }),
    ...(state.pending && { pending: { by: state.pending.by } }),
    ...pausedOf(state),
    lastSeq: 0, // the store knows it
    ...runSpending(state),
    ...(state.because && { because: state.because }),
    ...(state.short && { short: state.short }),
    ...(state.overruns.length > 0 && { overruns: [...state.overruns] }),
    ...(state.landed && { landed: { ...state.landed } }),
    ...(state.waits.size > 0 && {
      waits: [...state.waits].map(([provider, wait]) => ({ provider, ...wait })),
    }),
    questions: [...state.questions.values()].map((question) => questionView(state, question)),
  };
}

/** Such runs are all called `exec`: their words tell them apart. */
function aboutOf({ tasks }: State['workflow']): Pick<RunView, 'about'> {
  const [task, ...others] = Object.values(tasks);
  const words = task?.prompt ?? task?.run;
  if (others.length > 0 || words === undefined) return {};
  return {
    about: cutText(
      words
        .slice(0, 4 * ABOUT_CHARS_MAX)
        .replaceAll(/\s+/g, ' ')
        .trim(),
      ABOUT_CHARS_MAX,
    ),
  };
}

export function questionView(state: State, question: KeptQuestion): QuestionView {
  const { id, task, text, default: fallback, askedAtMs, timeoutMs, globs, owners, diff, produced } = question;
  const asked = state.asked.get(id) ?? state.requests.get(id);
  const budget = state.asked.get(id)?.budget;
  const node = state.nodes.get(task);
  const paused = node && pauseOf(state, node);
  return {
    id,
    task,
    ...labelOf(node),
    text: (budget && rewordedFor(state, budget)) ?? text,
    default: fallback,
    ...formOf(question),
    askedAtMs,
    kind: kindOf(state, question),
    ...(asked && { attempt: asked.attempt }),
    ...(timeoutMs !== undefined && { timeoutMs, deadlineAtMs: askedAtMs + timeoutMs }),
    ...(globs && { globs: [...globs] }),
    ...(owners && { owners: owners.flatMap((owner) => ownerOf(state.nodes.get(owner))) }),
    ...(budget && { budget: budgetOf(budget) }),
    ...(diff !== undefined && { diff }),
    ...(produced && { produced }),
    ...(paused && state.state === 'running' && { pausedSinceMs: paused.sinceMs }),
  };
}

/** Somebody may have set another limit since, which is still too low. */
function rewordedFor(state: State, { raiseTo, ...mark }: NonNullable<OpenAsk['budget']>): string | undefined {
  const limit = state.limits.get(mark.account)?.[mark.unit];
  return limit === undefined || limit === mark.limit ? undefined : askForMore({ ...mark, limit }, raiseTo);
}

function kindOf(state: State, { id, tool }: KeptQuestion): QuestionView['kind'] {
  if (state.requests.has(id)) return 'access';
  const asked = state.asked.get(id);
  if (!asked) return 'approve';
  return asked.budget ? 'budget' : tool ? 'tool' : 'question';
}

function ownerOf(node: Node | undefined): NonNullable<QuestionView['owners']> {
  return node ? [{ task: node.id, ...labelOf(node), state: node.state }] : [];
}

function budgetOf(budget: NonNullable<OpenAsk['budget']>): NonNullable<QuestionView['budget']> {
  const { account, unit, spent, limit, next, raiseTo } = budget;
  return { account, unit, spent, limit, ...(next !== undefined && { next }), raiseTo };
}

function askingCount(state: State): Pick<RunView, 'askingCount' | 'askingGroups'> {
  const tasks = new Set([...state.questions.values()].map(({ task }) => state.nodes.get(task)));
  const ofBudget = [...state.asked.values()].some(({ id, budget }) => budget && state.questions.has(id));
  // Whoever is held at a budget waits for the same answer.
  if (ofBudget) for (const node of state.nodes.values()) if (node.held?.by === 'budget') tasks.add(node);
  const asking = [...tasks].filter((node) => {
    const by = node && heldOf(state, node)?.by;
    return by === 'question' || (ofBudget && by === 'budget');
  }).length;
  const groups = [...tasks].filter((node) => node?.isUncounted && node.state === 'asking').length;
  return { ...(asking > 0 && { askingCount: asking }), ...(groups > 0 && { askingGroups: groups }) };
}

function pausedOf({ paused, state, idleSinceMs }: State): Pick<RunView, 'paused'> {
  if (!paused || state !== 'running') return {};
  return { paused: { ...paused, ...(idleSinceMs !== undefined && { idleSinceMs }) } };
}

function runSpending(state: State): Pick<RunView, 'spending' | 'limits'> {
  const spending = state.spending.get(RUN_ACCOUNT);
  const limits = limitsOf(state, RUN_ACCOUNT, state.workflow.budget);
  return {
    ...(spending && { spending: copied(spending) }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

function labelOf(node: Node | undefined): { label?: string } {
  return node === undefined || node.label === node.id ? {} : { label: node.label };
}

export function branchOf(run: string): string {
  return `bosun/${run}`;
}

/** What an attempt waits for: a person, first of all. */
export function heldOf(state: State, node: Node): Held | undefined {
  if (node.state !== 'running') return undefined;
  for (const { id, text, task, askedAtMs } of state.questions.values()) {
    // A budget holds many tasks, although one of them asked.
    const isHeld = node.held !== undefined && state.asked.get(id)?.budget !== undefined;
    if (task === node.id && !isHeld) return { by: 'question', text, sinceMs: askedAtMs };
  }
  return node.held;
}

export function taskView(node: Node, lastLine?: string, held?: Held): TaskView {
  const message = messageOf(node);
  const found = agentOf(node, node.started?.purpose ?? 'work');
  const agent = agentOf(node, 'work')?.name;
  const paused = hasEnded(node) ? undefined : nearestPaused(node);
  const runtime = node.fallback?.runtime ?? found?.agent.runtime ?? 'cli';
  return {
    id: node.id,
    ...labelOf(node),
    state: node.state,
    attempt: node.attempt,
    order: node.order,
    ...(node.parent && { parent: node.parent.id }),
    ...(agent !== undefined && { agent }),
    ...(node.startedAtMs !== undefined && { startedAtMs: node.startedAtMs }),
    ...(node.endedAtMs !== undefined && { endedAtMs: node.endedAtMs }),
    ...(node.workedMs !== undefined && { workedMs: node.workedMs }),
    ...(node.attemptAtMs !== undefined && { attemptAtMs: node.attemptAtMs }),
    ...(message !== undefined && { message }),
    ...(lastLine !== undefined && { lastLine }),
    ...(node.branchCommit !== undefined && { commit: node.branchCommit }),
    ...(node.changedCount !== undefined && { changedCount: node.changedCount }),
    ...(node.outsideCount && { outsideCount: node.outsideCount }),
    ...(held && { held }),
    ...(paused && { paused: { ...paused.paused!, ...(paused !== node && { with: paused.id }) } }),
    ...(node.progress && node.state === 'running' && { progress: node.progress }),
    ...(node.services && { services: node.services.map((service) => ({ ...service })) }),
    ...(node.state === 'expanded' && {
      within: { ended: node.children.length - node.open, all: node.children.length },
    }),
    ...retryOf(node),
    ...(node.state === 'running' && runtime === 'cli' && { steerable: false as const }),
    ...(node.picked && { picked: node.picked.candidate }),
    ...(node.fallback && { runtime: node.fallback.runtime }),
    ...(node.spending && { spending: copied(node.spending) }),
  };
}

/** It goes on to change. */
function copied(spending: Spending): Spending {
  return { ...spending, tokens: { ...spending.tokens } };
}

/** Who was picked in a race, and why. */
function raceMessageOf({ id, state, picked, children, candidate, parent }: Node): string | undefined {
  if (picked && state !== 'failed') {
    const won = children.find((child) => child.id === picked.candidate)!;
    return `picked ${won.label}: ${picked.because}`;
  }
  if (candidate === undefined || !parent?.picked || state === 'failed') return undefined;
  return parent.picked.candidate === id ? 'picked' : 'not picked';
}

function retryOf({ state, attempt, failures, retryAtMs, task }: Node): Pick<TaskView, 'retry'> {
  if (state !== 'delayed' || retryAtMs === undefined) return {};
  // Other attempts may have been made for other reasons: a check, a conflict.
  const attemptsMax = attempt + Math.max(1, (task.retry?.attempts ?? 1) - failures);
  return { retry: { atMs: retryAtMs, attempt: attempt + 1, attemptsMax } };
}

function mergesAfter([first, ...others]: readonly string[]): string {
  return `is merged after ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}

function messageOf(node: Node): string | undefined {
  const race = raceMessageOf(node);
  if (race !== undefined) return race;
  if (node.mergesAfter) return mergesAfter(node.mergesAfter);
  if (node.awaits && !hasEnded(node))
    return `waits for ${[...node.awaits].map(({ label }) => label).join(', ')}`;
  const outcome =
    node.outcome ?? (node.state === 'delayed' || node.state === 'ready' ? node.lastOutcome : undefined);
  return outcome && 'message' in outcome ? outcome.message : undefined;
}
