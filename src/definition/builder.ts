/** A workflow written in TypeScript: the same source, checked in the same way. */
import { Agent, type AgentSource, type Workflow, type WorkflowSource } from '../contract/workflow.ts';
import { define, FILES_MAX, TEXT_CHARS_MAX } from './define.ts';
import type { UsersDefaults } from './users-defaults.ts';
import { formatPath, throwProblems } from './source/problem.ts';
import { schemaProblems } from './source/schema-problems.ts';

export interface BuildOptions {
  /** Where the paths of `uses` start and agents may be files; the current directory if not given. */
  directory?: string;
  /** What a user's configuration gives agents that leave it open. */
  users?: UsersDefaults;
  /** Nothing beyond this directory is read; a program's own workflow may use what lies anywhere. */
  within?: string;
}

const built = new WeakSet<object>();

/** Throws one error with all that is wrong, each at its path, such as `tasks.design.needs[0]`. */
export function workflow(source: WorkflowSource, options: BuildOptions = {}): Workflow {
  const directory = options.directory ?? process.cwd();
  const defined = define(
    source,
    (problem) => ({ path: formatPath(problem.path), message: problem.message }),
    {
      directory,
      repository: directory,
      chain: [],
      left: { files: FILES_MAX, chars: TEXT_CHARS_MAX },
      users: options.users,
      within: options.within,
    },
  );
  if (!defined.workflow) return throwProblems(defined.problems);
  built.add(defined.workflow);
  return defined.workflow;
}

export function isBuilt(value: unknown): value is Workflow {
  return typeof value === 'object' && value !== null && built.has(value);
}

/** An agent for the `agents` or the tasks of several workflows. Throws as `workflow` does. */
export function agent(source: AgentSource): AgentSource {
  const parsed = Agent.safeParse(source);
  if (parsed.success) return source;
  return throwProblems(
    schemaProblems(parsed.error.issues, source, Agent).map(({ path, message }) => ({
      path: formatPath(path),
      message: message.replace('the workflow', 'the agent'),
    })),
  );
}
