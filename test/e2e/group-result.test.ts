import { expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';

it('what came of the tasks within one is a value: outputs by name, failures with their reasons, a summary', async () => {
  const workflow = `
name: fan
tasks:
  review:
    for-each: [security, speed, style]
    on-failure: continue
    run: test "\${{ each }}" != speed && echo "\${{ each }} is fine"
  tell:
    needs: [review]
    if: always()
    run: |
      echo "\${{ tasks.review.result.summary }}" > summary.txt
      echo "\${{ tasks.review.result.outputs.style }}" > style.txt
      echo "\${{ tasks.review.result.failures[0].task }}" > failed.txt
      echo "\${{ tasks.review.result.done }} of \${{ tasks.review.result.all }}" > count.txt
`;
  await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
  const { code, stdout } = await bosun(repository.path, 'run', '--json');
  const show = (file: string): Promise<string> =>
    repository.git('--git-dir=.git/bosun/git', 'show', `bosun/fan-1:${file}`);
  expect(code, stdout).toBe(0);
  expect(await show('summary.txt')).toBe(
    [
      'review: 2 of 3 done',
      '- review[security] done: security is fine',
      '- review[speed] failed: it ended with exit code 1',
      '- review[style] done: style is fine',
    ].join('\n'),
  );
  expect(await show('style.txt')).toBe('style is fine');
  expect(await show('failed.txt')).toBe('review[speed]');
  expect(await show('count.txt')).toBe('2 of 3');
  const report = JSON.parse((await bosun(repository.path, 'report', '--json')).stdout) as {
    tasks: { id: string; result: object | null }[];
  };
  expect(report.tasks[0]!.result).toMatchObject({
    done: 2,
    all: 3,
    failures: [{ task: 'review[speed]', state: 'failed', message: 'it ended with exit code 1' }],
  });
});
