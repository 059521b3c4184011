/** What hooks are given: a piece of the run as plain JSON, bounded. It calls nobody. */
import { cutText } from '../base/cut-text.ts';
import type { EventOf } from '../contract/event.ts';
import type {
  AfterAttempt,
  BeforeAttempt,
  HookError,
  HookInput,
  HookQuestion,
  RunEnded,
} from '../contract/hook.ts';
import type { Outcome } from '../contract/run.ts';
import { agentOf } from '../schedule/workflow/agent-of.ts';
import { nodeOf, type Node, type State } from '../schedule/state.ts';

/** Of a prompt, a message, a question. */
const TEXT_CHARS_MAX = 16 * 1024;
const CHANGED_MAX = 200;
const OUTPUT_CHARS_MAX = 16 * 1024;

type Where = Pick<HookInput, 'at' | 'run' | 'workflow' | 'repository'>;

/** Makes them for one run. */
export class HookInputs {
  readonly #state: State;
  readonly #repository: string;
  readonly #nowMs: () => number;

  constructor(state: State, repository: string, nowMs: () => number) {
    this.#state = state;
    this.#repository = repository;
    this.#nowMs = nowMs;
  }

  before(node: Node, start: EventOf<'attempt.started'>): BeforeAttempt {
    const { purpose, prompt, feedback } = start;
    return {
      type: 'before-attempt',
      ...this.#attempt(node, start),
      purpose,
      prompt: cut(prompt),
      ...(feedback !== undefined && { feedback: cut(feedback) }),
    };
  }

  after({ task, outcome, durationMs, collected, output }: EventOf<'attempt.finished'>): AfterAttempt {
    const node = nodeOf(this.#state, task);
    const isShort = output !== undefined && JSON.stringify(output).length <= OUTPUT_CHARS_MAX;
    return {
      type: 'after-attempt',
      ...this.#attempt(node, node.started!),
      outcome: shortOutcome(outcome),
      durationMs,
      changed: collected?.changed.slice(0, CHANGED_MAX) ?? [],
      changedCount: collected?.changedCount ?? 0,
      ...(collected && { commit: collected.commit }),
      ...(isShort && { output }),
    };
  }

  /** Undefined where nothing went wrong. */
  attemptFailed({ task, attempt, outcome }: EventOf<'attempt.finished'>): HookError | undefined {
    if (outcome.kind === 'lost') {
      const message = cut(outcome.because ?? 'bosun stopped before it ended');
      return { type: 'error', ...this.#task(task), attempt, reason: 'lost', message };
    }
    if (outcome.kind !== 'failed') return undefined;
    const { reason, message } = outcome;
    return { type: 'error', ...this.#task(task), attempt, reason, message: cut(message) };
  }

  /** Undefined where nothing went wrong, or an attempt of it, or a task within it, has said so. */
  taskFailed({ task, outcome }: EventOf<'task.finished'>): HookError | undefined {
    if (outcome.kind !== 'failed' || outcome.reason === 'tasks') return undefined;
    if (nodeOf(this.#state, task).lastOutcome?.kind === 'failed') return undefined;
    const { reason, message } = outcome;
    return { type: 'error', ...this.#task(task), reason, message: cut(message) };
  }

  question({
    id,
    task,
    text,
    choices,
    default: fallback,
    timeoutMs,
  }: EventOf<'question.asked'>): HookQuestion {
    return {
      type: 'question',
      ...this.#task(task),
      id,
      text: cut(text),
      ...(choices && { choices: choices.map(({ label }) => label) }),
      default: fallback,
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
  }

  ended(): RunEnded {
    const { id, state, because, nodes, createdAtMs, endedAtMs = createdAtMs, idleMs, spending } = this.#state;
    const counts: RunEnded['counts'] = {};
    for (const node of nodes.values())
      if (node.children.length === 0) counts[node.state] = (counts[node.state] ?? 0) + 1;
    const usd = spending.get('run')?.usd;
    return {
      type: 'run-ended',
      ...this.#where(),
      state,
      ...(because && { because }),
      counts,
      durationMs: Math.max(0, endedAtMs - createdAtMs - idleMs),
      ...(usd !== undefined && { usd }),
      branch: `bosun/${id}`,
    };
  }

  #where(): Where {
    const { id: run, workflow } = this.#state;
    return {
      at: new Date(this.#nowMs()).toISOString(),
      run,
      workflow: workflow.name,
      repository: this.#repository,
    };
  }

  #task(task: string): Where & { task: string; label?: string } {
    const { label } = nodeOf(this.#state, task);
    return { ...this.#where(), task, ...(label !== task && { label }) };
  }

  #attempt(
    node: Node,
    { attempt, purpose, fallback }: EventOf<'attempt.started'>,
  ): Omit<BeforeAttempt, 'type' | 'purpose' | 'prompt'> {
    const found = agentOf(node, purpose);
    const model = fallback ? fallback.model : found?.agent.model;
    return {
      ...this.#task(node.id),
      attempt,
      ...(found && { agent: found.name, runtime: fallback?.runtime ?? found.agent.runtime }),
      ...(model !== undefined && { model }),
    };
  }
}

function shortOutcome(outcome: Outcome): Outcome {
  return outcome.kind === 'failed' ? { ...outcome, message: cut(outcome.message) } : outcome;
}

function cut(text: string): string {
  return cutText(text, TEXT_CHARS_MAX);
}
