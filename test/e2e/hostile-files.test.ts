import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { EventOf } from '../../src/contract/event.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';

const WORKFLOW = `
name: hostile
concurrency: 4
on-failure: continue
tasks:
  deep:
    run: |
      python3 -c "
      import os
      for n in range(100):
          os.mkdir('d' * 200); os.chdir('d' * 200)
      open('last', 'w').write('x')"
      echo deep > deep.txt
    artifacts: [deep.txt, 'd*/**']
  sparse: { run: 'truncate -s 1T big; echo s > sparse.txt', artifacts: [big, sparse.txt] }
  sparse-output: { run: 'truncate -s 1T $BOSUN_OUTPUT' }
  pipes: { run: 'mkfifo pipe; rm README.md; mkfifo README.md; mkfifo $BOSUN_OUTPUT', artifacts: ['**'] }
  links:
    run: ln -s /etc/passwd direct; mkdir in; ln -s /etc in/etc; echo l > links.txt
    artifacts: [direct, in/etc/passwd, etc/passwd, slash/etc/hosts, 'slash/etc/host*', 'e*/passwd', links.txt]
`;

it('what agents leave on the disk becomes an outcome and a refusal, never a crash or a leak', async () => {
  await using repository = await makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': WORKFLOW } });
  await symlink('/etc', path.join(repository.path, 'etc'));
  await symlink('/', path.join(repository.path, 'slash'));
  await repository.git('add', '-A');
  await repository.git('commit', '-qm', 'links');
  const ended = await bosun(repository.path, 'run', '--json');
  const attempts = eventsIn(ended.stdout).filter(
    (event): event is EventOf<'attempt.finished'> => event.type === 'attempt.finished',
  );
  const of = Object.fromEntries(attempts.map((event) => [event.task, event]));
  expect(Object.keys(of).sort()).toEqual(['deep', 'links', 'pipes', 'sparse', 'sparse-output']);

  expect(of.deep!.outcome).toEqual({ kind: 'done' });
  expect(of.deep!.collected!.artifacts).toEqual(['deep.txt']);
  expect(of.deep!.collected!.refused).toEqual([expect.stringMatching(/^d+\/.*: a path that is too long$/)]);
  expect(of.sparse!.outcome).toEqual({ kind: 'done' });
  expect(of.sparse!.collected!.artifacts).toEqual(['sparse.txt']);
  expect(of.sparse!.collected!.refused).toEqual([
    'big: larger than 4 GB',
    expect.stringMatching(/^big: artifacts larger than/),
  ]);
  expect(of['sparse-output']!.outcome).toMatchObject({ kind: 'failed', reason: 'output' });
  expect(of.pipes!.outcome).toMatchObject({ message: 'its output file is not a plain file' });
  expect(of.links!.collected!.artifacts).toEqual(['links.txt']);
  expect((await bosun(repository.path, 'report')).stdout).toContain('sparse');
  expect((await bosun(repository.path, 'workspaces', 'clean')).code).toBe(0);
});
