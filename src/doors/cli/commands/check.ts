/** `bosun check` */
import { checkFile, type Checked } from '../../../operations/check.ts';
import { count } from '../../../report/words.ts';
import { given, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut } from '../output.ts';
import { renderTree } from '../task-tree.ts';

export async function run({ args }: Typed): Promise<number> {
  const checked = await checkFile({ cwd: process.cwd(), ...given('file', args[0]) });
  tellWorkflow(checked, 'ok');
  if (checked.refused.length > 0) {
    writeError(
      `\nbosun run would refuse it for now:\n${checked.refused.map((line) => `  ${line}\n`).join('')}`,
    );
  }
  return 0;
}

/** What it is, and its tasks; also what `run --dry-run` shows. */
export function tellWorkflow({ workflow, warnings, file }: Checked, lead: string): void {
  const paint = painter(hasColor(process.stdout));
  const facts = [
    count(Object.keys(workflow.tasks).length, 'task'),
    ...(Object.keys(workflow.agents).length > 0 ? [count(Object.keys(workflow.agents).length, 'agent')] : []),
    `at most ${workflow.concurrency} at a time`,
  ];
  writeOut(`${paint('good', lead)}: ${facts.join(', ')} (${workflow.name}, ${file})\n`);
  for (const line of renderTree(workflow, paint, columnsOfStream(process.stdout))) writeOut(`${line}\n`);
  for (const warning of warnings) writeError(`warning: ${warning}\n`);
}
