import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

async function repositoryWith(workflow: string, more: Record<string, string> = {}): Promise<TestRepository> {
  return makeRepository({ files: { 'README.md': 'one\ntwo\nthree\n', 'bosun.yaml': workflow, ...more } });
}

/** Runs bosun.yaml to its end and gives what happened. */
async function run(repository: TestRepository, code = 0, ...args: string[]): Promise<Event[]> {
  const finished = await bosun(repository.path, 'run', '--json', ...args);
  expect([finished.code, finished.stderr], finished.stdout).toEqual([code, expect.anything()]);
  return eventsIn(finished.stdout);
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** The place of the first event of this type about this task. */
function at(events: Event[], type: EventType, task: string): number {
  const place = events.findIndex((event) => event.type === type && 'task' in event && event.task === task);
  expect(place, `${type} of ${task}`).toBeGreaterThanOrEqual(0);
  return place;
}

function outcomes(events: Event[]): Record<string, string> {
  return Object.fromEntries(of(events, 'task.finished').map(({ task, outcome }) => [task, outcome.kind]));
}

async function merged(repository: TestRepository, file: string): Promise<string> {
  if (!existsSync(path.join(repository.path, file))) await bosun(repository.path, 'merge');
  return readFile(path.join(repository.path, file), 'utf8');
}

describe('a workflow through the command line', () => {
  it('sequential: each task starts from what the one before has done', async () => {
    await using repository = await repositoryWith(`
name: line
tasks:
  one: { run: 'echo 1 > a.txt' }
  two: { needs: [one], run: 'echo 2 >> a.txt' }
  three: { needs: [two], run: 'echo 3 >> a.txt' }
`);
    const events = await run(repository);
    expect(at(events, 'attempt.started', 'two')).toBeGreaterThan(at(events, 'task.finished', 'one'));
    expect(at(events, 'attempt.started', 'three')).toBeGreaterThan(at(events, 'task.finished', 'two'));
    expect(await repository.git('status', '--porcelain')).toBe('');
    expect(await merged(repository, 'a.txt')).toBe('1\n2\n3\n');
    const log = await repository.git(
      'log',
      '--reverse',
      '--format=%s %(trailers:key=Bosun-Run,valueonly,separator=%x2c)',
    );
    expect(log.split('\n')).toEqual(['Start ', 'one line-1', 'two line-1', 'three line-1']);
  });

  it('parallel: tasks without needs run at the same time, each in its own workspace', async () => {
    const task = (name: string): string =>
      `{ run: 'date +%s%N > $BOSUN_OUTPUT; sleep 1; date +%s%N >> $BOSUN_OUTPUT; ls > ${name}.txt' }`;
    await using repository = await repositoryWith(
      `name: side\nconcurrency: 2\ntasks:\n  left: ${task('left')}\n  right: ${task('right')}\n`,
    );
    const ends = of(await run(repository), 'task.finished').map(({ output }) =>
      (output as string).split('\n').map(BigInt),
    );
    const [[leftBegan, leftEnded], [rightBegan, rightEnded]] = ends as [[bigint, bigint], [bigint, bigint]];
    expect(leftBegan < rightEnded && rightBegan < leftEnded).toBe(true);
    expect(await merged(repository, 'left.txt')).not.toContain('right.txt');
    expect(await merged(repository, 'right.txt')).not.toContain('left.txt');
  });

  it('conditional: a task whose condition is false is skipped, and what needs it goes on', async () => {
    await using repository = await repositoryWith(`
name: choice
tasks:
  ask: { run: 'echo "{\\"count\\": 3}" > $BOSUN_OUTPUT' }
  many: { needs: [ask], if: '\${{ tasks.ask.output.count > 2 }}', run: 'echo many > many.txt' }
  few: { needs: [ask], if: '\${{ tasks.ask.output.count <= 2 }}', run: 'echo few > few.txt' }
  end: { needs: [many, few], run: 'ls > end.txt' }
`);
    expect(outcomes(await run(repository))).toEqual({
      ask: 'done',
      many: 'done',
      few: 'skipped',
      end: 'done',
    });
    expect((await merged(repository, 'end.txt')).split('\n')).toEqual([
      'README.md',
      'bosun.yaml',
      'end.txt',
      'many.txt',
      '',
    ]);
  });

  it('fan-out and fan-in: one task for each item of an earlier output, and one that sees them all', async () => {
    await using repository = await repositoryWith(`
name: fan
tasks:
  list: { run: 'echo "[\\"a\\", \\"b\\", \\"c\\"]" > $BOSUN_OUTPUT' }
  each: { needs: [list], for-each: '\${{ tasks.list.output }}', run: 'echo \${{ each }} > \${{ each }}.txt; echo "\${{ index }}" > $BOSUN_OUTPUT' }
  all: { needs: [each], run: 'cat a.txt b.txt c.txt > all.txt; echo "\${{ tasks.each.outputs }}" >> all.txt' }
`);
    const events = await run(repository);
    expect(outcomes(events)).toEqual({
      list: 'done',
      each: 'done',
      'each.1': 'done',
      'each.2': 'done',
      'each.3': 'done',
      all: 'done',
    });
    expect(await merged(repository, 'all.txt')).toBe('a\nb\nc\n[0,1,2]\n');
  });

  it('retry with check: what the check says comes back to the agent as its next prompt', async () => {
    await using repository = await repositoryWith(`
name: again
agents: { dev: { runtime: cli, command: 'cat > prompt-$BOSUN_ATTEMPT.txt' } }
tasks:
  work: { agent: dev, prompt: Make it pass., check: 'echo "second is missing" >&2; test -f prompt-2.txt', attempts: 3 }
`);
    const events = await run(repository);
    expect(of(events, 'attempt.finished').map(({ outcome }) => outcome.kind)).toEqual(['failed', 'done']);
    expect(await merged(repository, 'prompt-1.txt')).toBe('Make it pass.');
    expect(await merged(repository, 'prompt-2.txt')).toContain('second is missing');
  });

  it('retry with backoff: a failed command is tried again from a fresh workspace, and in the end gives up', async () => {
    await using repository = await repositoryWith(`
name: backoff
on-failure: continue
tasks:
  third: { run: 'ls > attempt-$BOSUN_ATTEMPT.txt; test $BOSUN_ATTEMPT = 3', retry: { attempts: 3, backoff: 10ms } }
  never: { run: 'exit 7', retry: { attempts: 2, backoff: 10ms } }
`);
    const events = await run(repository, 1);
    expect(
      of(events, 'task.delayed')
        .filter(({ task }) => task === 'third')
        .map(({ delayMs }) => delayMs),
    ).toEqual([10, 20]);
    expect(of(events, 'task.finished').find(({ task }) => task === 'never')?.outcome).toMatchObject({
      kind: 'failed',
      exitCode: 7,
    });
    expect(await merged(repository, 'attempt-3.txt')).not.toContain('attempt-1.txt');
  });

  it('expand: the output of a planner becomes further tasks of the same run', async () => {
    const plan = JSON.stringify({
      tasks: { x: { run: 'echo x > x.txt' }, y: { needs: ['x'], run: 'cat plan.txt x.txt > y.txt' } },
    });
    await using repository = await repositoryWith(
      `
name: planned
tasks:
  plan: { expand: true, run: 'cp plan.json $BOSUN_OUTPUT; echo planned > plan.txt' }
  after: { needs: [plan], run: 'cat y.txt > after.txt' }
`,
      { 'plan.json': plan },
    );
    expect(outcomes(await run(repository))).toEqual({
      plan: 'done',
      'plan/x': 'done',
      'plan/y': 'done',
      after: 'done',
    });
    expect(await merged(repository, 'after.txt')).toBe('planned\nx\n');
  });

  it('nested: another workflow file runs as one task, with inputs of its own', async () => {
    await using repository = await repositoryWith(
      `
name: outer
tasks:
  build: { uses: inner.yaml, with: { word: '\${{ run.name }}' } }
  after: { needs: [build], run: 'cat inner.txt > after.txt; echo "\${{ tasks.build.output.say }}" >> after.txt' }
`,
      {
        'inner.yaml': `
name: inner
inputs: { word: { required: true } }
tasks:
  say: { run: 'echo "\${{ inputs.word }}" > inner.txt; echo said' }
`,
      },
    );
    expect(outcomes(await run(repository))).toEqual({ build: 'done', 'build/say': 'done', after: 'done' });
    expect(await merged(repository, 'after.txt')).toBe('outer\nsaid\n');
  });

  it('approve: a run waits for a person, and goes on with yes', async () => {
    await using repository = await repositoryWith(`
name: asked
tasks:
  work: { run: 'echo done > work.txt' }
  ship: { needs: [work], approve: 'Ship \${{ tasks.work.state }} work?' }
  after: { needs: [ship], run: 'echo shipped > shipped.txt' }
`);
    const running = start(repository.path, 'run');
    await running.prints('Ship done work?');
    expect((await bosun(repository.path, 'status')).stdout).toContain('Ship done work?');
    expect((await bosun(repository.path, 'answer', 'ship', 'yes')).code).toBe(0);
    expect((await running.finished).code).toBe(0);
    expect(await merged(repository, 'shipped.txt')).toBe('shipped\n');
  });

  it('approve: no fails the task, skips what needs it, and keeps the work', async () => {
    await using repository = await repositoryWith(`
name: asked
tasks:
  work: { run: 'echo done > work.txt' }
  ship: { needs: [work], approve: { question: 'Ship it?', timeout: 50ms, default: 'no' } }
  after: { needs: [ship], run: 'echo shipped > shipped.txt' }
`);
    expect(outcomes(await run(repository, 1))).toEqual({ work: 'done', ship: 'failed', after: 'skipped' });
    expect(await merged(repository, 'work.txt')).toBe('done\n');
  });
});

describe('two tasks that change the same lines', () => {
  const clash = (policy: string, extra = ''): string => `
name: clash
concurrency: 1
on-conflict: '${policy}'
agents: { peacemaker: { runtime: cli, command: 'cat > /dev/null; grep -v "^[<=>]\\{7\\}" README.md > r; mv r README.md' } }
tasks:
  first: { run: 'sed -i s/two/FIRST/ README.md' }
  second: { run: 'sed -i s/two/SECOND/ README.md; echo 2 > second.txt' }
${extra}`;

  it('conflict: is a value that names the files and whose they are; the user tree stays as it was', async () => {
    await using repository = await repositoryWith(clash('fail'));
    const events = await run(repository, 1);
    expect(of(events, 'task.conflicted')[0]?.conflict).toEqual({ files: ['README.md'], with: ['first'] });
    expect(await repository.git('status', '--porcelain')).toBe('');
    expect((await bosun(repository.path, 'diff', '--task', 'second')).stdout).toContain('+SECOND');
    // Trying again starts from what it conflicted with.
    expect((await bosun(repository.path, 'retry', 'second')).code).toBe(0);
    expect(await merged(repository, 'second.txt')).toBe('2\n');
    expect(await merged(repository, 'README.md')).toBe('one\nFIRST\nthree\n');
  });

  it.each([
    ['ours', 'one\nFIRST\nthree\n'],
    ['theirs', 'one\nSECOND\nthree\n'],
    ['agent:peacemaker', 'one\nFIRST\nSECOND\nthree\n'],
  ])('conflict: %s settles it', async (policy, content) => {
    await using repository = await repositoryWith(
      clash(policy, `  third: { needs: [second], run: 'cp README.md third.txt' }\n`),
    );
    await run(repository);
    expect(await merged(repository, 'second.txt')).toBe('2\n');
    expect(await readFile(path.join(repository.path, 'README.md'), 'utf8')).toBe(content);
    expect(await readFile(path.join(repository.path, 'third.txt'), 'utf8')).toBe(content);
  });
});

describe('a run that is interrupted', () => {
  const slow = `
name: slow
concurrency: 2
tasks:
  quick: { run: 'echo quick > quick.txt' }
  long: { run: 'echo half > half.txt; echo begun; test $BOSUN_ATTEMPT -gt 1 || sleep 600; echo whole > whole.txt' }
  last: { needs: [quick, long], run: 'ls > last.txt' }
`;

  it('cancel: agents are ended, their work is kept, and resume goes on with what was not done', async () => {
    await using repository = await repositoryWith(slow);
    const running = start(repository.path, 'run', '--json');
    await running.prints('begun');
    await running.prints('"task.finished","task":"quick"');
    expect((await bosun(repository.path, 'cancel')).code).toBe(0);
    const ended = await running.finished;
    expect(ended.code).toBe(3);
    expect(outcomes(eventsIn(ended.stdout))).toEqual({ quick: 'done', long: 'cancelled', last: 'cancelled' });
    expect((await bosun(repository.path, 'diff', '--task', 'long')).stdout).toContain('+half');

    const resumed = await bosun(repository.path, 'resume', '--json');
    expect(resumed.code).toBe(0);
    expect(of(eventsIn(resumed.stdout), 'attempt.started').map(({ task }) => task)).toEqual(['long', 'last']);
    expect((await merged(repository, 'last.txt')).split('\n')).toContain('whole.txt');
  });

  it('resume: after kill -9 status says interrupted, and what was finished is not run again', async () => {
    await using repository = await repositoryWith(slow);
    const running = start(repository.path, 'run', '--json');
    await running.prints('begun');
    await running.prints('"task.finished","task":"quick"');
    running.child.kill('SIGKILL');
    await running.finished;
    expect((await bosun(repository.path, 'status')).stdout).toContain('interrupted');

    const resumed = await bosun(repository.path, 'resume', '--json');
    expect(resumed.code).toBe(0);
    const events = eventsIn(resumed.stdout);
    expect(of(events, 'attempt.started').map(({ task, attempt }) => `${task}@${attempt}`)).toEqual([
      'long@2',
      'last@1',
    ]);
    expect((await bosun(repository.path, 'diff', '--task', 'long', '--attempt', '1')).stdout).toContain(
      '+half',
    );
    expect((await merged(repository, 'last.txt')).split('\n')).toContain('quick.txt');
  });
});

describe('workspaces of a run', () => {
  it("get from setup what is no single task's: neither variables nor files of the task that is first", async () => {
    await using repository = await repositoryWith(
      `
name: shared
workspace: { setup: 'env > made; cat \${EVIL:-.secret} >> made; ls -d $BOSUN_OUTPUT >> made; true' }
agents:
  reader: { runtime: cli, command: cat made, scope: { read: [.secret], env: { NODE_OPTIONS: --bad } } }
tasks:
  one: { agent: reader, prompt: x, env: { EVIL: /dev/stdin } }
`,
      { '.gitignore': 'made\n.secret\n' },
    );
    await repository.write({ '.secret': 'the secret\n' });
    const seen = of(await run(repository), 'attempt.output')
      .filter(({ stream }) => stream === 'stdout')
      .map(({ text }) => text)
      .join('');
    expect(seen).toContain('PATH=');
    expect(seen).not.toMatch(/NODE_OPTIONS|EVIL|BOSUN_|the secret/);
  });

  it('hold what copy and setup bring, give artifacts back, and are gone afterwards', async () => {
    await using repository = await repositoryWith(
      `
name: kit
workspace: { copy: [.env.test, vendor], setup: 'cat .env.test vendor/lib > made; echo set up' }
tasks:
  use: { run: 'cat made > made-by-task.txt; mkdir -p out; echo page > out/index.html; mkfifo pipe; git status --short', artifacts: ['out/**'] }
  none: { workspace: none, run: 'ls -A; echo nothing > lost.txt' }
`,
      { '.gitignore': '.env.test\nvendor/\nmade\nout/\n' },
    );
    await repository.write({ '.env.test': 'A=1\n', 'vendor/lib': 'lib\n' });
    const events = await run(repository);
    const finished = of(events, 'attempt.finished').find(({ task }) => task === 'use')!;
    expect(finished.collected).toMatchObject({
      changedCount: 1,
      artifacts: ['out/index.html'],
      refused: [expect.stringContaining('pipe')],
    });
    expect(
      of(events, 'attempt.output').some(({ stream, text }) => stream === 'setup' && text === 'set up\n'),
    ).toBe(true);
    const artifact = path.join(repository.path, '.git/bosun/runs/kit-1/artifacts/use@1/out/index.html');
    expect(await readFile(artifact, 'utf8')).toBe('page\n');
    expect((await bosun(repository.path, 'report')).stdout).toMatch(/Not collected\n {2}use {2}pipe: /);
    expect(await merged(repository, 'made-by-task.txt')).toBe('A=1\nlib\n');
    expect(existsSync(path.join(repository.path, 'lost.txt'))).toBe(false);
    expect((await bosun(repository.path, 'workspaces')).stdout).not.toContain('agent-');
  });
});
