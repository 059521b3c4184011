/** The part of the table of operations that is about records: workers, templates, work items, and what became of them. */
import { FLAG, MESSAGE, NAME, NAME_CHARS_MAX, NO_AGENT, type Operation } from './operation.ts';
import { RUNTIMES } from './runtimes.ts';
import { EXECUTION_STATES } from './execution-states.ts';

const ABOVE_0 = { type: 'integer', minimum: 1, maximum: 1000 } as const;
const LIST = { type: 'object', properties: { limit: ABOVE_0, after: NAME } } as const;
const ID = { type: 'object', properties: { id: NAME }, required: ['id'] } as const;
const EXECUTION = { type: 'object', properties: { execution: NAME }, required: ['execution'] } as const;
const READS = { errors: [], actors: NO_AGENT, changes: false } as const;
const PUTS = { errors: ['wrong-state'], actors: NO_AGENT, changes: true } as const;
const REMOVES = { errors: ['not-found'], actors: NO_AGENT, changes: true } as const;

export const ON_RECORDS = {
  workers: { input: LIST, output: 'Workers', ...READS },
  putWorker: {
    input: {
      type: 'object',
      properties: {
        id: NAME,
        name: NAME,
        runtime: { type: 'string', maxLength: NAME_CHARS_MAX, enum: RUNTIMES },
        model: NAME,
        /** For the runtimes that are commands. */
        command: MESSAGE,
        offline: FLAG,
      },
      required: ['id', 'name'],
    },
    output: 'Worker',
    ...PUTS,
  },
  removeWorker: { input: ID, output: 'Worker', ...REMOVES },
  templates: { input: LIST, output: 'Templates', ...READS },
  putTemplate: {
    input: {
      type: 'object',
      properties: { id: NAME, name: NAME, prompt: MESSAGE, check: MESSAGE },
      required: ['id', 'name', 'prompt'],
    },
    output: 'Template',
    ...PUTS,
  },
  removeTemplate: { input: ID, output: 'Template', ...REMOVES },
  items: { input: LIST, output: 'WorkItems', ...READS },
  putItem: {
    input: {
      type: 'object',
      properties: { id: NAME, title: NAME, text: MESSAGE },
      required: ['id', 'title', 'text'],
    },
    output: 'WorkItem',
    ...PUTS,
  },
  removeItem: { input: ID, output: 'WorkItem', ...REMOVES },
  /** Leaves a run to the next engine that looks: a worker, told by a template, does a work item. */
  execute: {
    input: {
      type: 'object',
      properties: {
        workerId: NAME,
        workItemId: NAME,
        templateId: NAME,
        repositoryId: NAME,
        /** Goes on from what this earlier execution left. */
        workspaceId: NAME,
        key: NAME,
        fingerprint: NAME,
      },
      required: ['workerId', 'workItemId', 'templateId', 'repositoryId'],
    },
    output: 'ExecutionFacts',
    errors: [
      'not-found',
      'wrong-state',
      'no-repository',
      'not-trusted',
      'busy',
      'conflict',
      'invalid-workflow',
    ],
    actors: NO_AGENT,
    changes: true,
  },
  executions: {
    input: {
      type: 'object',
      properties: {
        limit: ABOVE_0,
        repositoryId: NAME,
        workerId: NAME,
        status: { type: 'string', maxLength: NAME_CHARS_MAX, enum: EXECUTION_STATES },
        /** Only those that are older than this one. */
        before: NAME,
      },
    },
    output: 'Executions',
    ...READS,
    errors: ['not-found'],
  },
  execution: { input: EXECUTION, output: 'Execution', ...READS, errors: ['not-found', 'no-repository'] },
  cancelExecution: {
    input: EXECUTION,
    output: 'ExecutionFacts',
    ...REMOVES,
    errors: ['not-found', 'no-repository', 'wrong-state', 'busy'],
  },
  executionWorkspaces: {
    input: { type: 'object', properties: { limit: ABOVE_0 } },
    output: 'ExecutionWorkspaces',
    ...READS,
  },
  cleanExecution: {
    input: EXECUTION,
    output: 'ExecutionWorkspace',
    ...REMOVES,
    errors: ['not-found', 'no-repository', 'wrong-state', 'busy'],
  },
} as const satisfies Record<string, Operation>;
