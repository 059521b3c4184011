/** Which files a program outside may name as a workflow. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { requireOwnFile } from '../src/operations/apart/own-file.ts';
import { makeRepository } from './fixtures/repository.ts';

it('is one of the repository by its name as well, wherever links lead', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': 'name: x', 'in/a.txt': 'a' } });
  const { path: top } = repository;
  const beside = path.join(path.dirname(top), 'beside');
  symlinkSync(top, beside);
  requireOwnFile(top, 'bosun.yaml');
  requireOwnFile(path.join(top, 'in'), '../bosun.yaml');
  for (const file of [
    '../beside/bosun.yaml',
    path.join(beside, 'bosun.yaml'),
    '/etc/passwd.yaml',
    '.git/a.yaml',
  ])
    expect(() => requireOwnFile(top, file), file).toThrow('must be a workflow file within the repository');
});
