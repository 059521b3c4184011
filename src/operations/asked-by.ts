/** What a workflow file would have to be trusted with on this machine. It starts nothing of the workflow. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Reading } from '../contract/operations.ts';
import { isFenced } from '../contract/isolation.ts';
import { chooseSandbox, releaseSandbox } from '../sandbox/choose.ts';
import { checkFile } from './check.ts';
import { NO_FENCES, notTrusted } from './trust.ts';

/** Throws as a check does; a module has to be trusted before it can say anything. */
export async function askedBy(
  options: Reading<'asked'>,
): Promise<{ source: string; asked: string[]; fresh: string[] }> {
  const { file: source, asks } = await checkFile(options);
  await using scratch = await mkdtempDisposable(path.join(tmpdir(), 'bosun-'));
  const sandbox = await chooseSandbox(scratch.path);
  await releaseSandbox(scratch.path);
  const asked = [...(isFenced(sandbox) ? [] : [NO_FENCES]), ...asks];
  return { source, asked, fresh: notTrusted(options.cwd, asked, { exactly: true }) };
}
