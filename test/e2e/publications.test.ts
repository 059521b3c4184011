/** Publishing from inside a running attempt, through the real command on both sides of the fence, with real git. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn, start } from '../fixtures/cli.ts';
import { runFenced, startFenced, told, type Told } from '../fixtures/fenced-run.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const FILES = { 'README.md': 'readme\n' };

function of<T extends EventType>(events: readonly Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

function engineGit(repository: TestRepository): (...args: string[]) => Promise<string> {
  return (...args) => repository.git('--git-dir=.git/bosun/git', ...args);
}

/** Which files each commit of the run's branch changes, the first one first. */
async function branch(repository: TestRepository, run = 'fenced-1'): Promise<string[]> {
  const git = engineGit(repository);
  if ((await git('for-each-ref', `refs/heads/bosun/${run}`)) === '') return [];
  const log = await git('log', '--reverse', '--format=%s', '--name-only', `bosun/${run}`);
  return log
    .split(/\n(?=\S[^\n]*\n\n)/)
    .map((commit) => commit.replaceAll(/\n+/g, ' ').trim())
    .slice(1);
}

function finished({ events }: Told, task: string): EventOf<'task.finished'>['outcome'] | undefined {
  return of(events, 'task.finished').findLast((event) => event.task === task)?.outcome;
}

describe('a task that publishes', () => {
  it('lets the one that waits start on its files of that moment, and git finds the right base', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  storage:
    publishes: [storage]
    run: |
      printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' > api.txt
      echo draft > draft.txt
      bosun agent publish storage --value '{ "table": "notes" }'
      bosun agent wait-for message --timeout 50s; sleep 1
      rm draft.txt
      printf 'one\\ntwo\\nthree\\nfour\\nFIVE\\n' > api.txt
      echo late > late.txt
  analysis:
    needs: [api:storage]
    env: { TABLE: '\${{ apis.storage.value.table }}', VERSION: '\${{ apis.storage.version }}' }
    run: |
      ls; sed -i s/one/ONE/ api.txt; echo "$TABLE $VERSION" > analysis.txt
      bosun agent send storage ready > sent.log; rm sent.log
  after: { needs: [analysis, storage], run: 'ls; cat api.txt' }
`,
    );
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    const order = run.events.flatMap((event) =>
      (event.type === 'attempt.finished' || event.type === 'task.finished') && event.task !== 'after'
        ? [`${event.type} ${event.task}`]
        : [],
    );
    expect(order).toEqual([
      'attempt.finished analysis',
      'attempt.finished storage',
      'task.finished storage',
      'task.finished analysis',
    ]);
    expect(run.printed('analysis')).toBe('README.md\napi.txt\ndraft.txt\n');
    // Both have changed the same file since: a merge from what was published takes both.
    expect(run.printed('after')).toBe(
      'README.md\nanalysis.txt\napi.txt\nlate.txt\nONE\ntwo\nthree\nfour\nFIVE\n',
    );
    expect(await branch(repository)).toEqual(['storage api.txt late.txt', 'analysis analysis.txt api.txt']);
    const [published] = of(run.events, 'publication.made');
    expect(published).toMatchObject({
      name: 'storage',
      version: 1,
      value: { table: 'notes' },
      changedCount: 2,
    });
    const result = (task: string): string => run.ended(task).collected!.commit;
    const git = engineGit(repository);
    expect(await git('merge-base', result('storage'), result('analysis'))).toBe(published!.commit);
  });

  it('counts its versions, and is told what it may not publish', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    scope: { write: [src/**] }
    run: |
      exec 2>&1; mkdir -p src; echo 1 > src/a.txt
      bosun agent publish spec --value text
      bosun agent publish spec --value text && echo "same: $?"
      echo 2 > src/a.txt; printf text | bosun agent publish spec --file -
      echo '{"a":1}' > src/b.json; bosun agent publish spec --file src/b.json
      bosun agent publish spec --file src/b.json --value x || echo "both: $?"
      bosun agent publish spec --file src/none || echo "none: $?"
      yes aaaaaaaaa | head -c 80000 | tr -d '[:space:]' > /tmp/large; bosun agent publish spec --file /tmp/large || echo "large: $?"
      bosun agent publish other || echo "other: $?"
      bosun agent publish || echo "nothing: $?"
    check: bosun agent publish spec --value late; test $? = 2
  silent: { run: bosun agent publish spec }
`,
    );
    expect(run.printed('work')).toContain(
      'published spec version 1 with 1 changed file\n' +
        'spec version 1 has this value and these files already; nothing new is published\nsame: 0\n' +
        'published spec version 2 with 1 changed file\n' +
        'published spec version 3 with 2 changed files\n' +
        'bosun: --value and --file cannot be used together; remove one of them\nboth: 2\n' +
        "bosun: cannot read src/none: ENOENT: no such file or directory, open 'src/none'\nnone: 2\n" +
        'bosun: the value has 72002 bytes, and 65536 is the most; write it to a file, which is published too, and say where it is\nlarge: 2\n' +
        'bosun: work cannot publish "other": it announces spec; what a task publishes is named in "publishes" of the workflow\n' +
        'other: 2\n',
    );
    expect(run.printed('work')).toContain('nothing: 2');
    expect(run.printed('work')).toContain('only an agent at work can publish, not its check');
    expect(run.printed('silent')).toContain('it announces nothing');
    expect(of(run.events, 'publication.made').map(({ version, value }) => [version, value])).toEqual([
      [1, 'text'],
      [2, 'text'],
      [3, { a: 1 }],
    ]);
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
  });

  it('publishes nothing that its scope does not allow', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'src/a.txt': 'a\n' } });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    scope: { write: ['src/*.md'] }
    run: echo 1 > src/b.md; echo 1 > src/b.txt; bosun agent publish spec; sleep 1; rm src/b.txt
  waits: { needs: [api:spec], run: ls src }
`,
    );
    expect(run.printed('work')).toBe(
      'published spec version 1 with 1 changed file, for waits\nleft out: 1 outside your scope\n',
    );
    expect(run.printed('waits')).toBe('a.txt\nb.md\n');
  });

  it('publishes no more in all than it may have on disk, and keeps nothing else of it', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    scope: { write: ['*.bin'] }
    limits: { disk: 35MB }
    run: |
      exec 2>&1; head -c 8000000 /dev/urandom > a.bin; head -c 8000000 /dev/urandom > left-out.txt
      for n in 1 2 3 4 5; do bosun agent publish spec --value $n || echo "not published: $?"; done
      rm a.bin left-out.txt
`,
    );
    expect(of(run.events, 'publication.made')).toHaveLength(4);
    expect(run.printed('work')).toContain(
      'nothing was published: these files have 8000100 bytes, those published before 32000400, and 36700160 are all that one attempt may publish (limits.disk); change fewer or smaller files\nnot published: 2\n',
    );
    const git = engineGit(repository);
    const refs = await git('for-each-ref', '--format=%(refname:lstrip=3)', 'refs/bosun');
    expect(refs.split('\n').filter((ref) => ref.includes('outside'))).toEqual([]);
  });

  it('stands still meanwhile: nothing is half there, and no link is followed', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    run: |
      mkdir real; echo mine > real/passwd; ln -s /etc swap
      (while :; do mv real kept; mv swap real; mv real swap; mv kept real; done) 2> /dev/null & swaps=$!
      (n=0; while :; do n=$((n + 1)); for f in a b; do echo $n > .new; mv .new $f.txt; done; done) & counts=$!
      for n in 1 2 3 4; do for try in 1 2 3 4 5; do bosun agent publish spec --value $n && break; done; done
      kill $swaps $counts
`,
    );
    const published = of(run.events, 'publication.made');
    expect(published).toHaveLength(4);
    const git = engineGit(repository);
    for (const { commit } of published) {
      const [a, b] = [await git('show', `${commit}:a.txt`), await git('show', `${commit}:b.txt`)];
      expect(Number(a) - Number(b), `${a} ${b}`).toBeOneOf([0, 1]);
      const files = await git('ls-tree', '-r', '--name-only', commit!);
      const found = files.split('\n').filter((file) => file.endsWith('passwd'));
      for (const file of found) expect(await git('show', `${commit}:${file}`)).toBe('mine');
      expect(found.length).toBe(1);
    }
  });
});

it('processes that start others are held still too', async () => {
  // CLONE_VFORK: the parent cannot be stopped before its child is another program, and that takes a second.
  const starts = `
    my ($clone, @args) = $ARGV[0] eq 'x64' ? (56, 0x4000 | 17, 0, 0, 0, 0) : (220, 0x4000 | 17, 0, 0, 0, 0);
    $| = 1; print "starts\\n";
    my $pid = syscall($clone, @args);
    if ($pid == 0) { select(undef, undef, undef, 1); exec 'sleep', '0.1' }
    wait;
`;
  await using repository = await makeRepository({ files: { ...FILES, 'starts.pl': starts } });
  const run = await runFenced(
    repository,
    `tasks:
  work:
    publishes: [spec]
    run: |
      perl starts.pl ${process.arch} > started & perl=$!
      until test -s started; do sleep 0.01; done; sleep 0.2
      bosun agent publish spec --value one 2>&1
      wait $perl && rm started
`,
  );
  expect(run.printed('work')).toBe('published spec version 1 with 1 changed file\n');
});

it('a run that is cancelled waits for no publication', async () => {
  await using repository = await makeRepository({ files: FILES });
  await using running = await startFenced(
    repository,
    `tasks:
  work:
    publishes: [spec]
    run: |
      trap 'rm large; exit 1' TERM
      truncate -s 4000M large; bosun agent publish spec 2>&1; sleep 100 & wait
`,
  );
  const packs = path.join(repository.path, '.git/bosun/git/objects/pack');
  const isTaken = (): boolean =>
    existsSync(packs) && readdirSync(packs).some((name) => name.startsWith('tmp_pack_'));
  await vi.waitUntil(isTaken, { timeout: 60_000 });
  await bosun(repository.path, 'cancel');
  const run = told(await running.finished);
  expect(run.ended('work').outcome).toEqual({ kind: 'cancelled' });
  expect(of(run.events, 'publication.made')).toEqual([]);
});

it('nothing is taken where a process wakes itself while it is held still', async () => {
  // A timer that sends SIGCONT; the file takes longer to read than the timer to come.
  const wakes = `
    my ($create, $settime) = $ARGV[0] eq 'x64' ? (222, 223) : (107, 110);
    $SIG{CONT} = sub {};
    my ($event, $id) = (pack('x8 l l x48', 18, 0), pack('x8'));
    syscall($create, 1, $event, $id) == 0 or die "no timer: $!";
    my $every = pack('q4', 0, 100_000_000, 0, 100_000_000);
    syscall($settime, unpack('l', $id), 0, $every, 0) == 0 or die "not set: $!";
    for (my $end = time + 20; time < $end;) { select(undef, undef, undef, 0.01) }
`;
  await using repository = await makeRepository({ files: { ...FILES, 'wakes.pl': wakes } });
  const run = await runFenced(
    repository,
    `tasks:
  work:
    publishes: [spec]
    run: |
      exec 2>&1
      head -c 60000000 /dev/urandom > big
      perl wakes.pl ${process.arch} & sleep 0.5
      bosun agent publish spec --value one || echo "not published: $?"
      kill $!; rm big
`,
  );
  expect(run.printed('work')).toMatch(/your processes (went on while|could not be) [^]*not published: \d/);
  expect(of(run.events, 'publication.made')).toEqual([]);
});

describe('a later version', () => {
  it('reaches who works on an earlier one as a message, and whoever waits for it', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    run: |
      echo 1 > spec.txt; bosun agent publish spec --value one
      bosun agent wait-for message waits
      echo 2 > spec.txt; bosun agent publish spec --value two
  waits:
    needs: [api:spec]
    run: |
      cat spec.txt; exec 2>&1; bosun agent send work ready
      bosun agent wait-for publication spec; bosun agent inbox
      bosun agent wait-for publication spec --at-least 3 || echo "third: $?"
      bosun agent wait-for publication spce || echo "unknown: $?"
  other: { run: 'bosun agent wait-for publication spec --at-least 2' }
`,
    );
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    const two = 'work published spec version 2 with 1 changed file:\n  | two\n';
    const [first, ...rest] = run.printed('waits').split('\n');
    expect(first).toBe('1');
    expect(rest.join('\n')).toContain(two);
    expect(rest.join('\n')).toContain(
      'work+p2 from work to api:spec:\n  | work published spec version 2 with 1 changed file:\n  | two\n',
    );
    expect(rest.join('\n')).toMatch(
      /work has ended \(done\) and did not publish version 3 of spec\nthird: 1/,
    );
    expect(rest.join('\n')).toContain(
      'no task publishes "spce"; did you mean "spec"?; this workflow announces spec\nunknown: 2',
    );
    expect(run.printed('other')).toBe(two);
    expect(await branch(repository)).toEqual(['work spec.txt']);
  });

  it('is of a plan too: what a planner writes may publish and need', async () => {
    const tasks = {
      api: { run: 'echo api > api.txt; bosun agent publish api --value v1; sleep 1', publishes: ['api'] },
      client: { run: 'cat api.txt > client.txt; echo "got ${{ apis.api.value }}"', needs: ['api:api'] },
    };
    const files = { ...FILES, 'plan.json': JSON.stringify({ tasks }) };
    await using repository = await makeRepository({ files });
    const run = await runFenced(
      repository,
      `tasks:
  plan: { expand: true, run: 'cat plan.json > $BOSUN_OUTPUT' }
`,
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.printed('plan/client')).toBe('got v1\n');
    expect(await branch(repository)).toEqual(['plan/api api.txt', 'plan/client client.txt']);
  });
});

describe('a publisher that does not succeed', () => {
  it('leaves out who waited for what never came, and is named', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  silent: { publishes: [spec], run: 'true' }
  waits: { needs: [api:spec], run: 'true' }
`,
    );
    expect(finished(run, 'waits')).toEqual({
      kind: 'skipped',
      because: 'need',
      message: 'it needs api:spec, which silent ended without publishing',
    });
    expect(run.code).toBe(1);
  });

  it('takes no work on its files to the branch, until it is tried again', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'flag.txt': 'fail\n' } });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    run: |
      echo 1 > spec.txt; bosun agent publish spec; echo "$BOSUN_ATTEMPT" > spec.txt
      test $BOSUN_ATTEMPT -gt 1 || { bosun agent wait-for message --timeout 50s; sleep 1; false; }
  waits: { needs: [api:spec], run: 'cp spec.txt seen.txt; bosun agent send work seen' }
`,
    );
    expect(finished(run, 'waits')).toEqual({
      kind: 'skipped',
      because: 'need',
      message: 'it needs api:spec, and work, which published version 1, failed',
    });
    expect(run.changed('waits')).toEqual(['A seen.txt']);
    expect(await branch(repository)).toEqual([]);
    const retried = await bosun(repository.path, 'retry', 'work', '--json');
    expect(retried.code, retried.stderr).toBe(0);
    expect(await branch(repository)).toEqual(['work spec.txt', 'waits seen.txt']);
    expect(await engineGit(repository)('show', 'bosun/fenced-1:spec.txt')).toBe('2');
  });

  it('may fail once and be tried again while the other works on what it published', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    retry: { attempts: 2, backoff: 10ms }
    run: |
      echo $BOSUN_ATTEMPT > spec.txt
      if [ $BOSUN_ATTEMPT = 1 ]; then echo x > abandoned.txt; bosun agent publish spec; exit 1; fi
      sleep 1
  waits: { needs: [api:spec], run: 'cp spec.txt seen.txt' }
`,
    );
    expect(run.code).toBe(0);
    expect(await branch(repository)).toEqual(['work spec.txt', 'waits seen.txt']);
    expect(await engineGit(repository)('show', 'bosun/fenced-1:seen.txt')).toBe('1');
  });

  it('may take back all that it published: nothing of it comes with the work of another', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    publishes: [spec]
    run: echo 1 > spec.txt; bosun agent publish spec; sleep 1; rm spec.txt
  waits: { needs: [api:spec], run: 'cp spec.txt seen.txt' }
`,
    );
    expect(run.code).toBe(0);
    expect(await branch(repository)).toEqual(['waits seen.txt']);
    expect(await engineGit(repository)('ls-tree', '--name-only', 'bosun/fenced-1')).not.toContain('spec');
  });

  it('is waited for again after its engine was killed', async () => {
    await using repository = await makeRepository({
      files: {
        ...FILES,
        'bosun.yaml': `name: fenced
tasks:
  work:
    publishes: [spec]
    run: test -e spec.txt || { echo 1 > spec.txt; bosun agent publish spec; }; sleep 3
  waits: { needs: [api:spec], run: 'cp spec.txt seen.txt' }
`,
      },
    });
    const first = start(repository.path, 'run', '--json');
    await first.prints('"type":"merge.deferred"');
    first.child.kill('SIGKILL');
    await first.finished;
    const { code, stdout } = await bosun(repository.path, 'resume', '--json');
    expect(code, stdout).toBe(0);
    const started = of(eventsIn(stdout), 'attempt.started').map(({ task }) => task);
    expect(started).toEqual(['work']);
    expect(await branch(repository)).toEqual(['work spec.txt', 'waits seen.txt']);
  });
});

describe('a continuous task', () => {
  it('has a round when something is published', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work: { publishes: [spec], run: 'sleep 1; bosun agent publish spec --value 1; sleep 1' }
  ci: { run: 'true', continuous: { on: [publication] } }
`,
    );
    expect(of(run.events, 'task.round').map(({ why }) => why)).toEqual(['first', 'on']);
  });
});
