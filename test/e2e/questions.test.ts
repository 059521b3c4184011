/** Questions that take more than yes and no, with the real command: in a terminal, and from elsewhere. */
import { describe, expect, it } from 'vitest';
import { bosun, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

function repositoryWith(workflow: string): Promise<TestRepository> {
  return makeRepository({ files: { 'README.md': 'hello\n', 'bosun.yaml': workflow } });
}

const CHOOSING = `
name: choosing
tasks:
  which: { approve: { question: 'Which database?', choices: [Postgres, SQLite] } }
  tell: { needs: [which], run: 'echo "it is \${{ tasks.which.output.answer }}"' }
`;

describe('a question with choices', () => {
  it('is answered by number or words, and what does not fit is refused with what would', async () => {
    await using repository = await repositoryWith(CHOOSING);
    const run = start(repository.path, 'run', '-v');
    await run.prints('bosun answer which 1|2 --run choosing-1');
    expect((await bosun(repository.path, 'status')).stdout).toContain('[1] Postgres  [2] SQLite');
    expect(await bosun(repository.path, 'answer', 'which', 'yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'which: "yes" does not answer it; choose one of: [1] Postgres  [2] SQLite',
      ),
    });
    expect(await bosun(repository.path, 'answer', '2')).toMatchObject({
      code: 0,
      stderr: 'answered which (run choosing-1): Which database? SQLite\n',
    });
    expect(await run.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('it is SQLite') });
  });

  it('is answered with a key in the live view', async () => {
    await using repository = await repositoryWith(CHOOSING);
    await using terminal = await openTerminal(['run'], { cwd: repository.path });
    await terminal.shows('[1] Postgres  [2] SQLite');
    await terminal.press('1');
    await terminal.shows('exit 0');
    expect((await bosun(repository.path, 'logs')).stdout).toMatch(
      /which +answered Postgres, by \S+ \(Which database\?\)/,
    );
  });

  it('is answered in the live view for the task that is selected, which says what was answered to whom', async () => {
    await using repository = await repositoryWith(
      'name: two\ntasks: { first: { approve: One? }, second: { approve: Two? }, after: { needs: [second], run: sleep 600 } }\n',
    );
    await using terminal = await openTerminal(['run'], { cwd: repository.path });
    await terminal.shows('? first: One?  [y]es [n]o · 1 more: ↑↓ selects a task');
    await terminal.press('Down', 'Down');
    await terminal.shows('? second: Two?  [y]es [n]o');
    await terminal.press('maybe'); // as who types words begins
    await terminal.press('m', 'y');
    await terminal.shows('one key answers: stop typing for a second, then press y or n');
    expect((await bosun(repository.path, 'logs')).stdout).not.toContain('answered');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await terminal.press('y');
    await terminal.shows(/answered second: yes, by \S+ \(Two\?\)/);
    await terminal.shows('? first: One?');
    await terminal.press('Enter');
    await terminal.shows('second  log');
    await terminal.press('n');
    await terminal.shows(/answered first: no, by \S+ \(One\?\)/);
    await terminal.press('C-c');
    await terminal.shows('exit');
  });

  it('is shown and asked for by bosun answer in a terminal', async () => {
    await using repository = await repositoryWith(CHOOSING);
    const run = start(repository.path, 'run');
    await run.prints('bosun answer which');
    await using terminal = await openTerminal(['answer'], { cwd: repository.path });
    await terminal.shows('[2] SQLite');
    await terminal.press('neither', 'Enter');
    await terminal.shows('does not answer it');
    await terminal.press('sqlite', 'Enter');
    await terminal.shows('exit 0');
    expect((await run.finished).code).toBe(0);
  });

  it('takes text and several choices in the live view', { timeout: 120_000 }, async () => {
    await using repository = await repositoryWith(`
name: typing
tasks:
  ask:
    run: |
      bosun agent ask "Which name?" --text > name.txt
      bosun agent ask "Which sizes?" --choices small large huge --several > sizes.txt
      cat name.txt sizes.txt
`);
    await using terminal = await openTerminal(['run'], { cwd: repository.path });
    await terminal.shows('? ask: Which name?');
    await terminal.press('a');
    await terminal.shows('answer to ask: ▏');
    await terminal.press('no, ');
    await terminal.press('Escape');
    await terminal.shows('a types an answer');
    await terminal.press('a');
    await terminal.press('use zodd');
    await terminal.press('BSpace');
    await terminal.shows('answer to ask: use zod▏');
    await terminal.press('Enter');
    await terminal.shows('[3] huge');
    await terminal.press('3');
    await terminal.shows('[3✓] huge');
    await terminal.press('1');
    await terminal.shows('[1✓] small  [2] large  [3✓] huge');
    await terminal.press('Enter');
    await terminal.shows('exit 0');
    const { stdout } = await bosun(repository.path, 'logs');
    expect(stdout).toContain('│ use zod');
    expect(stdout).toContain('│ small, huge');
  });
});
