/** The fences hold for an engine that is not root, too: all of them at once, in a repository of that user's own. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BOSUN, startProgram } from '../fixtures/cli.ts';
import { processesWith, told } from '../fixtures/fenced-run.ts';
import { AS_USER, giveAll } from '../fixtures/ordinary-user.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { removeTree } from '../../src/system/files/remove-tree.ts';

test.runIf(process.getuid?.() === 0)(
  'an ordinary user’s engine holds scopes, limits, network and orphans',
  async () => {
    const marker = `ordinary-${process.pid}-`;
    const home = await mkdtemp(path.join(tmpdir(), 'bosun-home-'));
    await using repository = await makeRepository({
      files: {
        'src/a.ts': 'a\n',
        'docs/d.md': 'd\n',
        'README.md': 'readme\n',
        'hogs/memory-tables.pl': await readFile('test/fixtures/hogs/memory-tables.pl'),
      },
    });
    const server = createServer((_, response) => void response.end('served\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await writeFile(path.join(home, 'secret'), 'secret\n');
      await repository.write({
        'bosun.yaml': `name: ordinary
on-failure: continue
concurrency: 8
tasks:
  scoped:
    scope: { write: [src/**], grant: ['docs/**'], env: { MARKER: ${marker} } }
    limits: { minutes: 0.5 }
    run: |
      sh -c 'until echo late >> docs/d.md; do sleep 0.02; done' 2> /dev/null &
      bosun agent request-access 'docs/**'; wait
      echo b >> src/a.ts
      for file in README.md ${home}/secret ${home}/new ${repository.path}/src/a.ts; do
        (echo x >> $file) 2> /dev/null && echo "wrote $file"
      done
      cat ${home}/secret 2> /dev/null
      (setsid sleep 1000 &)
      git commit --quiet -am inside && echo committed
  memory: { run: "echo x > m; perl -e 'my $x = q(x) x 209715200; sleep 10'", limits: { memory: 64MB } }
  tables: { run: 'echo x > t; perl hogs/memory-tables.pl 150', limits: { memory: 100MB } }
  forks: { run: "echo x > f; perl -e 'my $end = time + 10; fork while time < $end'", limits: { processes: 40 } }
  disk: { run: 'echo x > d; dd if=/dev/zero of=big bs=1M count=100; sleep 10', limits: { disk: 16MB } }
  alone: { run: 'curl -s -m 2 http://127.0.0.1:${port}/' }
  reaching:
    scope: { network: ['localhost:${port}'] }
    run: curl -s --noproxy '' http://localhost:${port}/; curl -s http://evil.test/
  neighbour: { run: sleep 2 }
`,
      });
      for (const file of [home, path.dirname(repository.path), repository.path]) await giveAll(file);
      const { finished } = startProgram([...AS_USER, BOSUN, 'run', '--json'], repository.path, {
        HOME: home,
      });
      const run = told(await finished);

      expect(run.ended('scoped').outcome).toEqual({ kind: 'done' });
      expect(run.printed('scoped')).toBe('granted: docs/** ("grant" of its scope names it)\ncommitted\n');
      expect(run.changed('scoped')).toEqual(['M docs/d.md', 'M src/a.ts']);
      for (const [task, message] of [
        ['memory', /^used \d+ MB of memory; 64 MB are allowed$/],
        ['tables', /^used \d+ MB of memory; 100 MB are allowed$/],
        ['forks', /^ran \d+ processes and threads; 40 are allowed$/],
        ['disk', /^wrote \d+ MB to disk; 16 MB are allowed$/],
      ] as const) {
        expect
          .soft(run.ended(task).outcome)
          .toMatchObject({ reason: 'limit', message: expect.stringMatching(message) });
        expect.soft(run.changed(task)).toContain(`A ${task[0]}`);
      }
      expect(run.ended('alone').outcome).toMatchObject({ reason: 'exit', exitCode: 7 });
      expect(run.printed('reaching')).toMatch(/^served\nbosun: evil\.test:80 is denied/);
      expect(run.events).toContainEqual(
        expect.objectContaining({ type: 'attempt.denied', host: 'evil.test' }),
      );
      expect(run.ended('neighbour').outcome).toEqual({ kind: 'done' });
      await sleep(100);
      expect(processesWith(marker)).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
      await removeTree(home);
    }
  },
);
