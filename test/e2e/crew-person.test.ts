/** What agents ask people, how far they say they are, and what they give before their end: in a fence, with the real command. */
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bosun, BOSUN } from '../fixtures/cli.ts';
import { runFenced, startFenced, told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const TASKS = `
tasks:
  choose:
    run: |
      bosun agent report-progress "looking around" --percent 20
      bosun agent ask "Which database?" --choices Postgres SQLite > db.txt
      bosun agent ask "Which name?" --text > name.txt
      bosun agent ask "May I?" || echo refused > refused.txt
      bosun agent ask "Anybody?" --choices a b --default b --timeout 1s > default.txt
      bosun agent ask "Nobody?" --text --timeout 1s > nobody.txt || true
      bosun agent report-progress "nearly there" --percent 90
      cat db.txt name.txt default.txt nobody.txt refused.txt
  judge:
    run: |
      bosun agent done '{"verdict":"perhaps"}' || true
      echo '{"verdict":"accept"}' | bosun agent done
      echo some words
    output: { type: object, properties: { verdict: { enum: [accept, reject] } }, required: [verdict] }
  corrected:
    attempts: 2
    check: test -f second
    run: |
      if [ -f first ]; then touch second; else touch first; bosun agent done '"of the first round"'; fi
      echo some words
  file:
    run: |
      bosun agent done '{"from":"done"}'
      echo '{"from":"the file"}' > "$BOSUN_OUTPUT"
`;

describe('a plain command in its fence', () => {
  it('asks a person, says how far it is, and gives its output', { timeout: 180_000 }, async () => {
    await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
    await using run = await startFenced(repository, TASKS);
    await run.prints('"text":"Which database?"');
    const status = await bosun(repository.path, 'status');
    expect(status.stdout).toContain('[1] Postgres  [2] SQLite');
    expect(status.stdout).toMatch(/choose .*Which database\?/);
    expect((await bosun(repository.path, 'answer', 'choose', '2')).code).toBe(0);
    await run.prints('"text":"Which name?"');
    expect((await bosun(repository.path, 'answer', 'choose', 'two\nlines; $(rm -rf .)')).code).toBe(0);
    await run.prints('"text":"May I?"');
    const noted = await bosun(repository.path, 'answer', 'choose', 'no', '--note', 'not now');
    expect(noted).toMatchObject({ code: 0 });
    const all = told(await run.finished);
    expect(all.code).toBe(0);
    expect(all.ended('choose').output).toBe(
      [
        'reported',
        'no',
        'note: not now',
        'reported',
        'SQLite',
        'two',
        'lines; $(rm -rf .)',
        'b',
        '(nobody answered in time: this is the default)',
        'no answer: nobody answered in time',
        'refused',
      ].join('\n'),
    );
    expect(all.events.filter(({ type }) => type === 'attempt.progress')).toMatchObject([
      { text: 'looking around', percent: 20 },
      { text: 'nearly there', percent: 90 },
    ]);
    expect(all.printed('judge')).toContain('not accepted: verdict');
    expect(all.ended('judge').output).toEqual({ verdict: 'accept' });
    expect(all.ended('corrected')).toMatchObject({ attempt: 2, output: 'of the first round' });
    expect(all.ended('file').output).toEqual({ from: 'the file' });
    const report = JSON.parse((await bosun(repository.path, 'report', '--json')).stdout) as {
      tasks: { attempts: { progress: unknown }[] }[];
    };
    expect(report.tasks[0]!.attempts[0]!.progress).toEqual({ text: 'nearly there', percent: 90 });
  });

  it(
    'gains no time by a question while it works on, and loses none while it waits',
    { timeout: 180_000 },
    async () => {
      await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
      await using run = await startFenced(
        repository,
        `
tasks:
  works:
    timeout: 5s
    run: |
      bosun agent ask "Never?" --timeout 2m &
      while :; do :; done
  waits:
    timeout: 5s
    run: bosun agent ask "Late?" --text --timeout 2m
`,
      );
      await run.prints('"text":"Never?"');
      await run.prints('"text":"Late?"');
      await run.prints('"reason":"timeout"');
      await sleep(6000);
      expect((await bosun(repository.path, 'answer', 'waits', 'better than never')).code).toBe(0);
      const all = told(await run.finished);
      expect(all.ended('works').outcome).toMatchObject({ kind: 'failed', reason: 'timeout' });
      expect(all.ended('works').durationMs).toBeLessThan(30_000); // else as long as the question is open
      expect(all.ended('waits')).toMatchObject({ outcome: { kind: 'done' }, output: 'better than never' });
      expect(all.ended('waits').durationMs).toBeGreaterThan(6000);
    },
  );

  it(
    "has the engine's own bosun, whatever else the PATH has, also in a login shell",
    { timeout: 120_000 },
    async () => {
      await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
      await using other = await makeRepository({ files: { bosun: '#!/bin/sh\necho another\n' } });
      await chmod(path.join(other.path, 'bosun'), 0o755);
      const PATH = `${other.path}:${process.env.PATH}`;
      const told = await runFenced(
        repository,
        `
tasks:
  plain: { run: 'command -v bosun; bosun agent report-progress here' }
  login: { run: 'sh -lc "command -v bosun; bosun agent report-progress here"' }
  own: { run: 'command -v bosun', env: { PATH: ${JSON.stringify(PATH)} } }
`,
        { PATH },
      );
      const printed = (task: string): string[] => told.printed(task).trim().split('\n');
      expect(printed('plain')).toEqual([BOSUN, 'reported']);
      expect(printed('login')).toEqual([BOSUN, 'reported']);
      expect(printed('own')).toEqual([BOSUN]);
    },
  );
});
