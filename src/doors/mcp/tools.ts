/** The tools of this door, by name, in the order in which they are listed. */
import { ANSWER, MERGE } from './decide-tools.ts';
import { DIFF } from './diff-tool.ts';
import { BUDGET, HISTORY, STATUS } from './look-tools.ts';
import { EXECUTE, INTERRUPT } from './run-tools.ts';
import type { Tool } from './tool.ts';

export const MCP_TOOLS: readonly Tool[] = [EXECUTE, STATUS, BUDGET, INTERRUPT, HISTORY, DIFF, MERGE, ANSWER];
