/** How an execution stands, in the words of the routes below /api/agent-runtime. */
export const EXECUTION_STATES = ['pending', 'running', 'success', 'error', 'cancelled'] as const;
export type ExecutionState = (typeof EXECUTION_STATES)[number];
