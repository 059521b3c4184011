/** The workflow of one task that nobody has written down: agents in it get what the user's configuration says, as in a file. */
import type { Workflow, WorkflowSource } from '../contract/workflow.ts';
import { workflow } from '../definition/builder.ts';
import { usersConfig } from '../definition/config.ts';

export type TaskSource = WorkflowSource['tasks'][string];

/** `rest`: what is not of the task, such as a budget. */
export function workflowOfOne(
  name: string,
  [task, source]: readonly [name: string, source: TaskSource],
  directory: string,
  rest: Omit<WorkflowSource, 'name' | 'tasks'> = {},
): Workflow {
  const { users } = usersConfig(undefined);
  return workflow({ name, ...rest, tasks: { [task]: source } }, { directory, users });
}

/** What a person types, or a reviewer writes, is no template. */
export function literally(text: string): string {
  return text.replaceAll('${{', () => "${{ '${{' }}");
}
