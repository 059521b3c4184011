/** What a workflow file would have to be trusted with on this machine. It starts nothing of the workflow. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isFenced } from '../contract/isolation.ts';
import { chooseSandbox } from '../sandbox/choose.ts';
import { checkFile } from './check.ts';
import { NO_FENCES, type TrustOptions } from './trust.ts';

/** Throws as a check does; a module has to be trusted before it can say anything. */
export async function askedBy(
  options: { cwd: string; file?: string } & TrustOptions,
): Promise<{ source: string; asked: string[] }> {
  const { file: source, asks } = await checkFile(options);
  await using scratch = await mkdtempDisposable(path.join(tmpdir(), 'bosun-'));
  const sandbox = await chooseSandbox(scratch.path);
  return { source, asked: [...(isFenced(sandbox) ? [] : [NO_FENCES]), ...asks] };
}
