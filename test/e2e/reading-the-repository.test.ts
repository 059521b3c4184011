/** An agent that may read the repository itself sees the files and the history, and nothing of what bosun keeps there. */
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { BOSUN, startProgram } from '../fixtures/cli.ts';
import { told } from '../fixtures/fenced-run.ts';
import { AS_USER, giveAll } from '../fixtures/ordinary-user.ts';
import { withoutNativePrograms } from '../fixtures/poor-machine.ts';
import { makeRepository } from '../fixtures/repository.ts';

const isRoot = process.getuid?.() === 0;

/** Its directory is closed to everybody else, so that a root engine's sandboxes cannot simply enter it. */
const WAYS: [who: string, before: string[], needsRoot: boolean][] = [
  ['whoever runs these tests', [], false],
  ['an engine without native programs', withoutNativePrograms([]), true],
  ['an ordinary user', AS_USER, true],
];

describe.each(WAYS)('of %s', (_who, before, needsRoot) => {
  test.runIf(isRoot || !needsRoot)('the journal and the sockets of others are out of reach', async () => {
    await using repository = await makeRepository({ files: { 'secret/f': 'seen\n' } });
    const at = repository.path;
    const alias = path.join(path.dirname(at), 'alias');
    await symlink(at, alias);
    await mkdir(path.join(at, '.git/bosun'), { mode: 0o700 }); // as after a first run
    const look = (place: string): string =>
      `cat ${place}/secret/f; git -C ${place} -c safe.directory='*' log -1 --format=%s; find ${place}/.git/bosun -type s -o -name 'journal*' -o -name memory | sed 's/^/found /'; touch ${place}/.git/bosun/x 2> /dev/null || echo no`;
    await repository.commit('first', {
      'bosun.yaml': `name: reads
on-failure: continue
agents: { reader: { runtime: cli, command: 'true', scope: { read: [secret] } } }
tasks:
  look:
    scope: { read: [., ${alias}], write: [out/**] }
    run: |
      ${look(at)}
      ${look(alias)}
  refused: { run: 'true', needs: [look], scope: { read: [.git/bosun] } }
  hides: { agent: reader, prompt: x, needs: [look], scope: { hide: ['**/f'] } }
`,
    });
    if (before === AS_USER) await giveAll(path.dirname(at));
    const { printed, ended } = told(await startProgram([...before, BOSUN, 'run', '--json'], at).finished);
    expect(printed('look').split('\n').sort()).toEqual(['', 'first', 'first', 'no', 'no', 'seen', 'seen']);
    expect(ended('hides').outcome).toMatchObject({ message: expect.stringContaining('would hide nothing') });
    expect(ended('refused').outcome).toMatchObject({ message: expect.stringContaining('what bosun keeps') });
  });
});
