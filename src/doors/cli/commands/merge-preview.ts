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
  const { run, kind, onto, branch, commits, commitCount, files, conflicts, blocked, check } = preview;
  const where = branch ?? 'your detached HEAD';
  if (kind === 'nothing') return [`${where} has all of run ${run} already`];
  const what = `${count(commitCount, 'commit')} of run ${run}, ${count(files.length, 'file')}`;
  const head =
    kind === 'conflict'
      ? `conflict: ${what} and ${where} at ${shortCommit(onto)} both change ${count(conflicts.length, 'file')}`
      : `${where} ${HOW[kind]} at ${shortCommit(onto)}: ${what}`;
  const marked = conflicts.flatMap(({ path, text }) => [
    `  ${path}`,
    ...(text === undefined ? [] : text.split('\n').map((line) => `    ${line}`)),
  ]);
  return [
    head,
    ...marked,
    ...cut(
      commits.map(({ commit, title }) => `  ${shortCommit(commit)} ${title}`),
      COMMITS_SHOWN_MAX,
      'commit',
    ),
    ...cut(
      files.map(({ path, added, deleted }) =>
        added === null ? `  ${path} (binary)` : `  ${path} +${added} −${deleted}`,
      ),
      FILES_SHOWN_MAX,
      'file',
    ),
    ...(check === undefined ? [] : [`first this has to pass: ${check}`]),
    ...(blocked === undefined ? [] : [`not now: ${blocked}`]),
  ];
}

function cut(lines: readonly string[], max: number, what: string): string[] {
  if (lines.length <= max) return [...lines];
  return [...lines.slice(0, max), `  and ${count(lines.length - max, `more ${what}`)}`];
}
