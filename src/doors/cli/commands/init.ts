/** `bosun init` */
import { ask } from '../ask.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(): Promise<number> {
  const { file, written, trusted } = await ask('init', {});
  if (written) writeOut(`${file}\n`);
  const note = trusted
    ? 'workflows here may reach beyond the repository; undo with: bosun trust --remove\n'
    : '';
  writeError(
    written
      ? `wrote ${file}; run it with: bosun run\n${note}`
      : `${file} is there already and stays as it is; check it with: bosun check\n`,
  );
  return 0;
}
