/** `bosun merge` */
import { mergeRun } from '../../../operations/changes.ts';
import { count, shortCommit } from '../../../report/words.ts';
import { given, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run({ args }: Typed): Promise<number> {
  const {
    kind,
    head,
    branch,
    run: id,
    commits,
  } = await mergeRun({ cwd: process.cwd(), ...given('run', args[0]) });
  const where = branch ?? 'your detached HEAD';
  if (kind === 'nothing') {
    writeError(commits === 0 ? `run ${id} changed nothing\n` : `${where} has all of run ${id} already\n`);
    return 0;
  }
  writeOut(`${head}\n`);
  const how = kind === 'merged' ? 'merged' : 'fast-forwarded';
  writeError(`${how}: ${where} is at ${shortCommit(head)} with ${count(commits, 'commit')} of run ${id}\n`);
  return 0;
}
