/** `bosun merge --preview` */
import type { MergePreview } from '../../../contract/outputs.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { count, shortCommit } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { writeOut } from '../output.ts';

const FILES_SHOWN_MAX = 50;
const COMMITS_SHOWN_MAX = 20;
const HOW = {
  'fast-forward': 'would be fast-forwarded',
  merged: 'would get a merge commit',
  squashed: 'would get one commit',
};

/** Exit code 1 where a merge would be refused. */
export async function run(typed: Typed): Promise<number> {
  const preview = await ask('previewMerge', inputOf('previewMerge', typed));
  if (typed.options.json) writeOut(`${JSON.stringify(preview)}\n`);
  else
    writeOut(
      linesOf(preview)
        .map((line) => `${plainLine(line)}\n`)
        .join(''),
    );
  return preview.kind === 'conflict' || preview.blocked !== undefined ? 1 : 0;
}

function linesOf(preview: MergePreview): string[] {
  const { run, kind, head, onto, branch, commits, commitCount, files, conflicts } = preview;
  const { blocked, check, unfinished } = preview;
  const where = branch ?? 'your detached HEAD';
  const ending = [
    ...(unfinished === undefined ? [] : [`note: ${unfinished}`]),
    ...(blocked === undefined ? [] : [`not now: ${blocked}`]),
  ];
  if (kind === 'nothing') return [`${where} has all of run ${run} already`, ...ending];
  const brought = `${count(commitCount, 'commit')}, ${count(files.length, 'file')}`;
  const target = kind === 'fast-forward' ? ` to ${shortCommit(head)}` : '';
  const first =
    kind === 'conflict'
      ? `conflict in ${count(conflicts.length, 'file')} between run ${run} (${brought}) and ${branch === undefined ? where : `your branch ${branch}`} (${shortCommit(onto)})`
      : `${where} ${HOW[kind]}, from ${shortCommit(onto)}${target}: ${brought} of run ${run}`;
  const marked = conflicts.flatMap(({ path, text }) => [
    `  ${path}`,
    ...(text === undefined ? [] : text.split('\n').map((line) => `    ${line}`)),
  ]);
  return [
    first,
    ...marked,
    ...cut(
      commits.map(({ commit, title }) => `  ${shortCommit(commit)} ${title}`),
      COMMITS_SHOWN_MAX,
      'commit',
    ),
    ...cut(
      files.map(({ path, added, deleted }) =>
        added === null ? `  ${path} (binary)` : `  ${path} +${added} -${deleted}`,
      ),
      FILES_SHOWN_MAX,
      'file',
    ),
    ...(check === undefined ? [] : [`first this has to pass: ${check}`]),
    ...ending,
  ];
}

function cut(lines: readonly string[], max: number, what: string): string[] {
  if (lines.length <= max) return [...lines];
  return [...lines.slice(0, max), `  and ${count(lines.length - max, `more ${what}`)}`];
}
