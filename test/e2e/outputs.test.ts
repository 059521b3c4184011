/** Reading and taking the work of other tasks from inside a running attempt, through the real command and real git. */
import { describe, expect, it } from 'vitest';
import { runFenced } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const FILES = { 'README.md': 'readme\n', 'a.txt': 'one\n', 'b.txt': 'one\n', 'secret/key.txt': 'old\n' };

describe('outputs', () => {
  it('gives what a need produced as files that can be read, and not written', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  design:
    artifacts: [out/*.log]
    run: |
      echo two > a.txt; echo new > spec.md; mkdir out; echo kept > out/x.log
      echo '{"verdict":"accept"}' > $BOSUN_OUTPUT
  reader:
    needs: [design]
    run: |
      exec 2>&1
      bosun agent outputs
      cd /run/bosun/outputs/design@1
      cat output.json summary.txt files.txt artifacts/out/x.log
      grep -c '^+two' changes.patch
      echo x > output.json || echo "read-only: $?"
      ln -s /etc/passwd link || echo "no link: $?"
      bosun agent outputs desing || echo "unknown: $?"
  alone: { run: bosun agent outputs }
`,
    );
    expect(run.stderr).toBe('');
    const at = '/run/bosun/outputs/design@1';
    const printed = run.printed('reader');
    expect(printed).toContain(
      `design (done, 3 changed files):\n  ${at}/output.json\n  ${at}/summary.txt\n  ${at}/files.txt\n  ${at}/changes.patch\n  ${at}/artifacts/out/x.log\n`,
    );
    expect(printed).toContain(
      '{\n  "verdict": "accept"\n}\ndesign: 1 of 1 done\n- design done: {"verdict":"accept"}\n' +
        'M a.txt\nA out/x.log\nA spec.md\nkept\n1\n',
    );
    expect(printed).toContain('read-only: 2');
    expect(printed).toContain('no link: 1');
    expect(printed).toMatch(/nothing of "desing" that you could read; did you mean "design"\?.*\nunknown: 2/);
    expect(run.printed('alone')).toBe('');
    expect(run.code).toBe(0);
  });

  it('shows nothing that is hidden from the reader', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work: { run: 'echo sesame > secret/key.txt; echo two > a.txt', artifacts: [secret/*, a.txt] }
  reader:
    needs: [work]
    scope: { hide: [secret/**] }
    run: |
      bosun agent outputs; cd /run/bosun/outputs/work@1; cat files.txt changes.patch
      grep -r sesame . || echo nothing; find . -name key.txt
`,
    );
    const printed = run.printed('reader');
    expect(printed).toContain('left out, since it is hidden from you: 1 of 2 changed files');
    expect(printed).toContain('+two');
    expect(printed).toContain('nothing\n');
    expect(printed).not.toContain('sesame');
    expect(printed).not.toContain('key.txt');
  });
});

it('shows nothing hidden of a directory that became a file', async () => {
  await using repository = await makeRepository({ files: { ...FILES, 'secret/key.txt': 'sesame\n' } });
  const run = await runFenced(
    repository,
    `tasks:
  work: { run: 'rm -r secret; echo file > secret; echo two > a.txt' }
  reader:
    needs: [work]
    scope: { hide: ['secret/*'] }
    run: bosun agent outputs; cat /run/bosun/outputs/work@1/changes.patch
`,
  );
  expect(run.printed('reader')).toContain('+two');
  expect(run.printed('reader')).not.toContain('sesame');
});

describe('what a prompt gets from a need', () => {
  it('is an outline where it is long, with the whole as a file that the agent can read', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  long: { run: 'yes word | head -n 20000 > $BOSUN_OUTPUT' }
  reader:
    needs: [long]
    agent: { runtime: cli, command: 'grep -c . $BOSUN_FILES/value-1.txt; head -c 150' }
    prompt: 'It said \${{ tasks.long.output }}'
`,
    );
    expect(run.printed('reader')).toContain('20000\nIt said word\nword\n');
    const started = run.events.find((event) => event.type === 'attempt.started' && event.task === 'reader');
    expect(started).toMatchObject({ files: [{ name: 'value-1.txt' }] });
    expect(JSON.stringify(started)).toContain('… (19975 lines)');
  });
});

describe('take', () => {
  const TAKE = `tasks:
  work:
    publishes: [spec]
    run: |
      echo v1 > v1.txt; bosun agent publish spec --value one
      bosun agent wait-for message waits
      echo two > a.txt; echo two > b.txt; chmod +x b.txt; echo new > 'new file.txt'
      bosun agent publish spec --value two
  waits:
    needs: [api:spec]
    run: |
      exec 2>&1; bosun agent send work ready; bosun agent wait-for publication spec > /dev/null 2>&1; bosun agent inbox > /dev/null
`;

  it('applies what changed since the version that the task started from', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `${TAKE}      bosun agent take api:spec; cat a.txt b.txt 'new file.txt'; test -x b.txt && echo x
      cd secret; bosun agent take api:spec || echo "again: $?"
`,
    );
    const printed = run.printed('waits');
    expect(printed).toContain('took api:spec: 3 changed files\ntwo\ntwo\nnew\nx\n');
    expect(printed).toMatch(/did not take api:spec, and changed nothing: .*\nagain: 1/);
    expect(run.changed('waits')).toEqual(['A new file.txt', 'M a.txt', 'M b.txt']);
    expect(run.code, run.stderr).toBe(0);
  });

  it('changes nothing where one file does not fit, or a link is in the way', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'd/c.txt': 'one\n' } });
    const run = await runFenced(
      repository,
      `${TAKE.replace("echo two > b.txt; chmod +x b.txt; echo new > 'new file.txt'", 'echo two > d/c.txt')}      echo mine > a.txt; bosun agent take api:spec || echo "no: $?"
      cat a.txt d/c.txt; git checkout -q a.txt
      mv d /tmp/away; ln -s /tmp/away d; bosun agent take api:spec || echo "link: $?"
      cat a.txt /tmp/away/c.txt
`,
    );
    const printed = run.printed('waits');
    expect(printed).toMatch(/did not take api:spec, and changed nothing: .*a\.txt.*\nno: 1\nmine\none\n/);
    expect(printed).toMatch(/did not take api:spec, and changed nothing: .*\nlink: 1\none\none\n/);
  });

  it('takes no files of a publisher that is at work where the task does not rest on it', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    run: |
      echo half > a.txt; bosun agent publish spec --value one
      bosun agent wait-for message other; exit 1
  other:
    run: |
      exec 2>&1
      bosun agent wait-for publication spec
      bosun agent take api:spec || echo "not taken: $?"
      bosun agent send work go
`,
    );
    expect(run.printed('other')).toMatch(/only tasks that need api:spec may take it before[^]*not taken: \d/);
    expect(run.changed('other')).toEqual([]);
  });

  it('takes nothing that is outside of the scope, and needs files', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `${TAKE.replace('needs: [api:spec]', 'needs: [api:spec]\n    scope: { write: [a.txt] }')}      bosun agent take api:spec || echo "outside: $?"
      cat a.txt; bosun agent take work || echo "not yet: $?"
  bare:
    needs: [work]
    workspace: none
    run: bosun agent take work 2>&1 || echo "bare $?"
`,
    );
    const printed = run.printed('waits');
    expect(printed).toMatch(
      /api:spec changes files that you may not: b\.txt \(outside the scope\), new file\.txt \(outside the scope\); ask for them with request_access.*\noutside: 2\none\n/,
    );
    expect(printed).toContain('not yet: 2');
    expect(run.printed('bare')).toContain('you work on no files');
    expect(run.changed('waits')).toEqual([]);
  });
});
