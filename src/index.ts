/** The public API, by name. */
export { Bosun, type RunOptions } from './doors/library.ts';
export { BosunError, type ErrorCode } from './contract/errors.ts';
export type { Event, Recorded } from './contract/event.ts';
export type {
  AfterAttempt,
  BeforeAttempt,
  HookAnswer,
  HookError,
  HookFunction,
  HookInput,
  HookName,
  HookOptions,
  HookQuestion,
  RunEnded,
} from './contract/hook.ts';
export type { RunReport } from './contract/report.ts';
export type { RunState, RunView, TaskState, TaskView } from './contract/run.ts';
export type { AgentSource, Json, Workflow, WorkflowSource } from './contract/workflow.ts';
export { agent, workflow } from './definition/builder.ts';
export { loadWorkflow } from './definition/load.ts';
export { startModelServer, type ModelServer } from './model-server/server.ts';
export type { LiveRun } from './operations/run.ts';
