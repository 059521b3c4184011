/** The state of a run before anything has happened in it: what the event that creates it says, and no tasks yet. */
import type { EventOf } from '../../contract/event.ts';
import { Queue } from '../queue.ts';
import type { State } from '../state.ts';

export function newState(event: EventOf<'run.created'>, atMs: number): State {
  return {
    id: event.id,
    workflow: event.workflow,
    source: event.source,
    dirty: event.dirty,
    ...(event.overBudget && { overBudget: event.overBudget }),
    base: event.base,
    head: event.base,
    shadow: event.base,
    inputs: event.inputs,
    state: 'running',
    nodes: new Map(),
    top: new Map(),
    todo: new Queue(),
    ready: new Queue(),
    deferred: new Set(),
    pausedTasks: new Set(),
    continuous: [],
    running: 0,
    open: 0,
    questions: new Map(),
    requests: new Map(),
    asks: new Queue(),
    asked: new Map(),
    wants: new Queue(),
    messages: new Map(),
    mail: new Queue(),
    keepers: new Set(),
    spawns: new Queue(),
    spawnedChars: 0,
    summaries: new Map(),
    agentWaits: new Map(),
    away: 0,
    services: new Map(),
    isQuiet: false,
    spending: new Map(),
    limits: new Map(),
    clocks: new Map(),
    overruns: [],
    read: () => {
      throw new Error('this state was made without its values');
    },
    hash: () => {
      throw new Error('this state was made to be looked at, not to decide on');
    },
    waits: new Map(),
    createdAtMs: atMs,
    lastAtMs: atMs,
    idleMs: 0,
    hasEngine: event.queued !== undefined,
    ...(event.parent && { parent: event.parent }),
    ...(event.queued && { pending: event.queued }),
    counts: {},
  };
}
