/** What people type who know other tools is refused, with the way to what they meant. */
import { expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';

const FLOW = 'name: two\ntasks: { first: { run: "true" } }\n';

it.each([
  [['merge', '--abort'], 'to take one back: bosun merge --undo (see'],
  [['undo'], 'did you mean "bosun merge --undo"?'],
  [['run', '--background'], 'to run it in the background: --detach (see'],
  [['run', '--watch'], 'to watch a run that is at work: bosun attach, or bosun logs -f (see'],
  [['run', '--resume'], 'to continue a run: bosun resume (see'],
  [['run', 'bosun'], 'cannot read bosun: there is no such file; did you mean bosun.yaml?'],
  [['run', 'bosun.yaml', 'goal=x'], 'inputs are given as: -i goal=… (see'],
  [['run', '-i', 'goal=x', '-i', 'goal=y'], '--input goal is given twice'],
  [['history', '-n', '3'], 'for only so many: --limit (see'],
  [['history', '--cost'], 'bosun history --by model (see'],
  [['diff', 'two-1', 'first'], 'to name a task: bosun diff two-1 --task first (see'],
  [['status', '--watch'], 'to watch it: bosun attach, or bosun logs -f (see'],
  [['config', 'list'], 'to see everything: bosun config (see'],
  [['config', 'agents', '8'], 'to set it: bosun config set agents 8 (see'],
  [['token', 'create', 'ci', '--role', 'run'], 'did you mean bosun token add ci? (see'],
  [['workers', 'add', 'anna'], 'did you mean bosun workers set anna? (see'],
  [['artifacts'], 'bosun artifacts --task <task>'],
  [['budget', '5'], 'to set a limit in dollars: bosun budget --usd 5'],
])('answers bosun %j with exit code 2 and the way', async (args, message) => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': FLOW } });
  const { code, stdout, stderr } = await bosun(repository.path, ...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});
