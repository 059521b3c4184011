/** Asking for more from inside a running attempt, through the real command on both sides of the fence. */
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/contract/event.ts';
import { BOSUN, bosun, startProgram } from '../fixtures/cli.ts';
import { runFenced, startFenced, told, type Told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const FILES = { 'src/a.ts': 'a\n', 'docs/d.md': 'd\n', 'docs/e.txt': 'e\n', 'README.md': 'readme\n' };
const ASK = 'bosun agent request-access';

function answers({ events }: Told): Pick<EventOf<'access.answered'>, 'task' | 'globs' | 'answer' | 'by'>[] {
  return events.flatMap((event) => {
    if (event.type !== 'access.answered') return [];
    const { task, globs, answer, by } = event;
    return [{ task, globs, answer, by }];
  });
}

describe('a task with no scope of its own', () => {
  it('can talk to the engine like any other, and has what it asks for', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:\n  work: { run: 'bosun agent inbox && ${ASK} docs/d.md' }\n`,
    );
    expect(run.printed('work')).toBe(
      'granted: docs/d.md (its scope names no files, so that it may change all)\n',
    );
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
  });
});

describe('a list of globs that may be granted', () => {
  it('opens them in the running process, and the merge holds the globs', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    scope: { write: [src/**], grant: ['docs/*.md', 'new/**'] }
    limits: { minutes: 0.5 }
    run: |
      sh -c 'n=0; until echo late >> docs/d.md; do n=$((n + 1)); sleep 0.02; done; echo "$$ after $n"' 2> /dev/null &
      writer=$!
      sleep 0.3
      kill -0 $writer && echo "writer $writer"
      ${ASK} 'README.md'; echo "code $?"
      ${ASK} 'docs/*.md' 'new/x/**'; code=$?
      wait; echo "code $code"
      echo new > docs/new.md; rm docs/e.txt; mkdir -p new/x; echo x > new/x/y
      (echo x >> README.md) 2> /dev/null || echo "still closed"
`,
    );
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
    const printed = run.printed('work');
    expect(printed).toMatch(/^writer (\d+)\n[^]*^\1 after [1-9]\d*$/m);
    expect(printed).toContain('refused: README.md ("grant" of its scope does not name README.md)\ncode 1\n');
    expect(printed).toContain('granted: docs/*.md new/x/** ("grant" of its scope names it)\n');
    expect(printed).toMatch(/code 0\nstill closed\n$/);
    expect(run.changed('work')).toEqual(['A docs/new.md', 'A new/x/y', 'M docs/d.md']);
    expect(run.ended('work').collected?.outside?.files.map((file) => file.path)).toEqual(['docs/e.txt']);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await repository.git('show', 'HEAD:docs/d.md')).toBe('d\nlate');
    expect(await repository.git('ls-files', 'docs')).toBe('docs/d.md\ndocs/e.txt\ndocs/new.md');
  });

  it('is no reason to open what is not asked for, and `never` opens nothing', async () => {
    await using repository = await makeRepository({ files: FILES });
    const write = '(echo x >> docs/d.md) 2> /dev/null && echo written; true';
    const run = await runFenced(
      repository,
      `tasks:
  silent: { scope: { write: [], grant: [docs/**] }, run: ${JSON.stringify(write)} }
  never: { scope: { write: [], grant: never }, run: ${JSON.stringify(`${ASK} docs/d.md; ${write}`)} }
  hidden: { scope: { write: [], hide: [docs/**], grant: [docs/**] }, run: ${JSON.stringify(`${ASK} 'docs/**'; ${write}`)} }
`,
    );
    expect(run.printed('silent')).toBe('');
    expect(run.printed('never')).toBe('refused: docs/d.md (its scope says grant: never)\n');
    expect(run.printed('hidden')).toBe('refused: docs/** (docs/** is hidden)\n');
    expect(['silent', 'never', 'hidden'].flatMap((task) => run.changed(task))).toEqual([]);
  });
});

describe('a person who is asked', () => {
  it.each(['yes', 'no'] as const)('answers %s from another process', async (answer) => {
    await using repository = await makeRepository({ files: FILES });
    await using started = await startFenced(
      repository,
      `tasks:
  work:
    agent:
      runtime: cli
      command: "cat > /dev/null; ${ASK} docs/d.md || echo without; (echo x >> docs/d.md) 2> /dev/null"
      scope: { write: [src/**], grant: ask }
    prompt: Work.
`,
    );
    await started.prints('"question.asked"');
    expect((await bosun(repository.path, 'status')).stdout).toContain('May it change docs/d.md?');
    const said = await bosun(repository.path, 'answer', answer === 'yes' ? 'work' : 'work+1', answer);
    expect([said.code, said.stderr]).toEqual([
      0,
      `answered work+1 (run fenced-1): May it change docs/d.md? ${answer}\n`,
    ]);
    const run = told(await started.finished);
    expect(answers(run)).toEqual([{ task: 'work', globs: ['docs/d.md'], answer, by: userInfo().username }]);
    expect(run.changed('work')).toEqual(answer === 'yes' ? ['M docs/d.md'] : []);
    expect(run.printed('work')).toMatch(
      answer === 'yes' ? /^granted: docs\/d\.md/ : /^refused: [^]*without\n/,
    );
  });
});

describe('an owner that is running', () => {
  it.each(['yes', 'no'] as const)('is asked in its inbox, and says %s', async (answer) => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  owner:
    scope: { write: [docs/**] }
    limits: { minutes: 0.5 }
    run: |
      until [ -n "$request" ]; do sleep 0.1; request=$(bosun agent inbox); done
      echo "$request"
      bosun agent answer "\${request%% *}" ${answer}
      bosun agent answer nobody+1 yes || echo own > docs/own.md
  asker:
    scope: { write: [src/**], grant: owner }
    run: |
      ${ASK} docs/asked.md
      (echo asked > docs/asked.md) 2> /dev/null; true
`,
    );
    expect(run.printed('owner')).toMatch(
      /^asker\+1 asker asks for docs\/asked\.md\nanswered: (yes|no), for asker\nnot answered: no such request/,
    );
    expect(answers(run)).toEqual([{ task: 'asker', globs: ['docs/asked.md'], answer, by: 'owner owner' }]);
    expect(run.changed('owner')).toEqual(['A docs/own.md']);
    expect(run.changed('asker')).toEqual(answer === 'yes' ? ['A docs/asked.md'] : []);
    expect(run.code).toBe(0);
  });
});

describe('an owner that is sent a diff', () => {
  const CHANGE =
    'diff --git a/docs/d.md b/docs/d.md\n--- a/docs/d.md\n+++ b/docs/d.md\n@@ -1 +1,2 @@\n d\n+wanted\n';
  const asker = (patch: string): string => `
  asker:
    scope: { write: [src/**], grant: owner }
    env: { CHANGE: ${JSON.stringify(patch)} }
    run: |
      printf '%s' "$CHANGE" | ${ASK} docs/d.md --patch -; echo "code $?"
      (echo x >> docs/d.md) 2> /dev/null || echo "still closed"
`;
  const owner = (answer: string, before = 'true'): string => `tasks:
  owner:
    scope: { write: [docs/**] }
    limits: { minutes: 0.5 }
    run: |
      until [ -n "$request" ]; do sleep 0.1; request=$(bosun agent inbox); done
      echo "$request"; ${before}
      bosun agent answer asker+1 ${answer}; echo "code $?"
`;

  it('takes it: its own command applies it to its own files, and the asker is told', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(repository, owner('take') + asker(CHANGE));
    expect(run.printed('owner')).toBe(
      'asker+1 asker asks for docs/d.md, for this change (take it, or answer yes or no):\n' +
        CHANGE.trimEnd().split('\n').map((line) => `  | ${line}\n`).join('') +
        'answered: applied, for asker\ncode 0\n',
    ); // prettier-ignore
    expect(run.printed('asker')).toBe(
      'applied: docs/d.md (owner, which owns it, has made the change, which comes with its result)\ncode 0\nstill closed\n',
    );
    expect(answers(run)).toEqual([
      { task: 'asker', globs: ['docs/d.md'], answer: 'applied', by: 'owner owner' },
    ]);
    expect([run.changed('owner'), run.changed('asker')]).toEqual([['M docs/d.md'], []]);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await repository.git('show', 'HEAD:docs/d.md')).toBe('d\nwanted');
  });

  it('changes nothing where it does not apply, and can still say no', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      owner('no', 'echo other > docs/d.md; bosun agent answer asker+1 take') + asker(CHANGE),
    );
    expect(run.printed('owner')).toMatch(
      /not answered: the change does not apply, and nothing was changed: .*docs\/d\.md.*\nanswered: no, for asker\ncode 0\n$/,
    );
    expect(run.printed('asker')).toMatch(/^refused: docs\/d\.md .*\ncode 1\nstill closed\n$/);
    expect(
      await repository.git('--git-dir', '.git/bosun/git', 'show', 'refs/heads/bosun/fenced-1:docs/d.md'),
    ).toBe('other');
  });

  it('never sees one that changes anything else', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:${asker(CHANGE.replaceAll('docs/d.md', 'docs/../.git/config'))}`,
    );
    expect(run.printed('asker')).toMatch(
      /^bosun: cannot ask for this change: .* is no path in the repository\ncode 2\nstill closed\n$/,
    );
    expect(run.events.some(({ type }) => type === 'access.requested')).toBe(false);
  });

  it('is asked of a person where nobody owns it, who sees what is wanted', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using started = await startFenced(repository, `tasks:${asker(CHANGE)}`);
    await started.prints('"question.asked"');
    expect((await bosun(repository.path, 'status')).stdout).toMatch(
      /May it change docs\/d\.md\?\n    \| diff --git [^]*\n    \| \+wanted\n/,
    );
    expect((await bosun(repository.path, 'answer', 'asker', 'yes')).code).toBe(0);
    const run = told(await started.finished);
    expect(run.printed('asker')).toMatch(/^granted: docs\/d\.md .*\ncode 0\n$/);
    const report = (await bosun(repository.path, 'report', '--format', 'json')).stdout;
    expect(JSON.stringify(report)).toContain('+wanted');
  });
});

describe('what was granted', () => {
  it('is still granted after kill -9 and a resume', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using started = await startFenced(
      repository,
      `tasks:
  work:
    scope: { write: [src/**], grant: [docs/**] }
    run: |
      if [ "$BOSUN_ATTEMPT" = 1 ]; then ${ASK} 'docs/**'; echo first > docs/first.md; echo ready; sleep 1000; fi
      echo second > docs/second.md
`,
    );
    await started.prints('ready\\n');
    started.child.kill('SIGKILL');
    await started.finished;
    const run = told(await startProgram([BOSUN, 'resume', '--json'], repository.path).finished);
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
    expect(run.changed('work')).toContain('A docs/second.md');
    expect(run.ended('work').collected?.outside).toBeUndefined();
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await repository.git('show', 'HEAD:docs/second.md')).toBe('second');
  });
});
