/** `bosun workspaces` */
import { count, formatBytes } from '../../../report/words.ts';
import type { WorkspaceEntry } from '../../../workspace/workspace.ts';
import { ask } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  return typed.args[0] === 'clean' ? clean() : list(isOn(typed, 'json'));
}

async function list(asJson: boolean): Promise<number> {
  const listed = await ask('workspaces', {});
  for (const each of listed) writeOut(asJson ? `${safeJson(each)}\n` : lineOf(each));
  if (!asJson)
    writeError(
      listed.length === 0
        ? 'no workspaces: each is removed once its work is a commit\n'
        : `${count(listed.length, 'workspace')}\n`,
    );
  return 0;
}

async function clean(): Promise<number> {
  const { removed, kept } = await ask('clean', {});
  for (const name of removed) writeOut(`${name}\n`);
  for (const { name, why } of kept) writeError(`kept ${name}: ${why}\n`);
  writeError(`removed ${count(removed.length, 'workspace')}\n`);
  return 0;
}

function lineOf({ name, bytes, createdAtMs }: WorkspaceEntry): string {
  return `${formatBytes(bytes).padStart(9)}  ${new Date(createdAtMs).toLocaleString('sv').slice(0, 16)}  ${name}\n`;
}
