/** Which files of a repository are workflows: found by their look, in bounds, without following links. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { workflowFiles } from '../src/operations/workflow-files.ts';
import { bosun } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const WORKFLOW = 'tasks:\n  one:\n    run: "true"\n';

it('lists those that look like one, the default first, also before they are committed', async () => {
  await using repository = await makeRepository({
    files: {
      'ci/nightly.yaml': `name: 'every night'\n${WORKFLOW}`,
      'bosun.yaml': `name: shop # ours\n${WORKFLOW}`,
      '.bosun/config.yaml': WORKFLOW,
      '.github/workflows/ci.yaml': WORKFLOW,
      'node_modules/x/bosun.yaml': WORKFLOW,
      'compose.yaml': 'services:\n  db: {}\n',
      'flow.json': '{ "name": "in json", "tasks": { "one": { "run": "true" } } }',
    },
  });
  const at = (name: string): string => path.join(repository.path, name);
  mkdirSync(at('.bosun'), { recursive: true });
  writeFileSync(at('.bosun/fresh.yml'), WORKFLOW);
  symlinkSync('/etc', at('etc'));
  symlinkSync(at('bosun.yaml'), at('linked.yaml'));
  const found = await workflowFiles({ cwd: at('ci') });
  expect(found).toEqual({
    files: [
      { file: 'bosun.yaml', name: 'shop' },
      { file: 'flow.json', name: 'in json' },
      { file: '.bosun/fresh.yml' },
      { file: 'ci/nightly.yaml', name: 'every night' },
    ],
    isCut: false,
  });
  const { stdout } = await bosun(repository.path, 'check', '--list');
  expect(stdout.split('\n')).toEqual([
    'bosun.yaml  shop',
    'flow.json  in json',
    '.bosun/fresh.yml',
    'ci/nightly.yaml  every night',
    '',
  ]);
});

it('names the code that lies there, where it finds no file that it may take by itself', async () => {
  await using repository = await makeRepository({ files: { 'bosun.ts': 'export default 1;\n' } });
  const { stderr } = await bosun(repository.path, 'check');
  expect(stderr).toContain('bosun.ts is there, but code only runs if you name it');
});

it('says which file to trust for its hooks', async () => {
  const hooks = "name: nightly\nhooks:\n  - { on: before-attempt, name: gate, command: 'true' }\n";
  await using repository = await makeRepository({ files: { 'nightly.yaml': `${hooks}${WORKFLOW}` } });
  const { stdout } = await bosun(repository.path, 'hooks', 'nightly.yaml');
  expect(stdout).toContain('not trusted yet: bosun trust nightly.yaml');
});
