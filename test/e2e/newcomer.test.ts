/** What somebody meets who types a command for the first time: no option that says nothing, no list that is silent, and always what to type next. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BOSUN, bosun, start, startProgram, type Finished } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const QUICK = 'name: quick\ntasks: { one: { run: echo 1 > one.txt } }\n';

function repositoryWith(workflow = QUICK): Promise<TestRepository> {
  return makeRepository({ files: { 'README.md': 'hello\n', 'bosun.yaml': workflow } });
}

/** With settings and records that nobody else has. */
function own({ path: at }: TestRepository, words: string[]): Promise<Finished> {
  const home = path.join(at, '.git', 'home');
  const env = { XDG_CONFIG_HOME: path.join(home, 'config'), XDG_STATE_HOME: path.join(home, 'state') };
  return startProgram([BOSUN, ...words], at, env).finished;
}

/** Long enough to be summed up. */
const LONG = `node -e 'require("fs").writeFileSync(process.env.BOSUN_OUTPUT, JSON.stringify({ a: Array(9000).fill("word") }))'`;
const SUMMARY = (uses: string): string => `
name: sums
agents:
  short: { runtime: cli, command: "false" }
tasks:
  gen: { agent: { runtime: cli, command: ${JSON.stringify(LONG)} }, prompt: x, output: { type: object } }
  use:
    needs: [gen]
    summarize: short
    agent: { runtime: cli, command: ${JSON.stringify(uses)} }
    prompt: "Use \${{ tasks.gen.output }}"
`;

describe('what a report recommends', () => {
  it('is no retry of a summary that nobody waits for, and that retry is refused', async () => {
    await using repository = await repositoryWith(SUMMARY('true'));
    const { code, stdout } = await bosun(repository.path, 'run');
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('use[summary of gen]');
    expect(stdout).not.toContain('bosun retry');
    const retried = await bosun(repository.path, 'retry', 'use/summary-1');
    expect([retried.code, retried.stderr]).toEqual([
      2,
      'bosun: task use/summary-1 cannot be retried by itself: it worked for use, which is done without it\n',
    ]);
  });

  it('is to retry the task that the summary was for, which asks for it again', async () => {
    await using repository = await repositoryWith(SUMMARY('exit 3'));
    const { code, stdout } = await bosun(repository.path, 'run');
    expect(code).toBe(1);
    expect(stdout.match(/bosun retry \S+/g)).toEqual(['bosun retry use']);
    const retried = await bosun(repository.path, 'retry', 'use/summary-1');
    expect([retried.code, retried.stderr]).toEqual([
      2,
      'bosun: task use/summary-1 cannot be retried by itself: it worked for use; to try that again: bosun retry use\n',
    ]);
    const again = await bosun(repository.path, 'retry', 'use');
    expect(again.stderr).toContain('waits for a summary by short');
  });

  it('is not what a condition left out', async () => {
    await using repository = await repositoryWith(
      'name: two\ntasks: { a: { run: "true" }, b: { needs: [a], if: "${{ false }}", run: "true" } }\n',
    );
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const retried = await bosun(repository.path, 'retry', 'b');
    expect([retried.code, retried.stderr]).toEqual([
      2,
      'bosun: task b cannot be retried by itself: its condition is false, and nothing that it needs has failed\n',
    ]);
  });

  it('ends with what the last agents said', async () => {
    await using repository = await makeRepository();
    const made = await bosun(
      repository.path,
      'init',
      '--template',
      'plan-build-review',
      '--command',
      'cat > /dev/null; echo "One thing is missing."; seq 20',
    );
    expect(made.code, made.stderr).toBe(0);
    const { stdout } = await bosun(repository.path, 'run', '--input', 'goal=x');
    expect(stdout).toContain('\nAnswers\n  review\n    │ One thing is missing.\n    │ 1\n');
    expect(stdout).toContain('    … 10 lines more: bosun logs plan-build-review-1 --task review\n');
    const at = (agent: string): number => stdout.indexOf(`\n  ${agent}\n    │`);
    expect(at('build'), 'what others used comes last').toBeGreaterThan(at('review'));
  });

  it('says how a command gives an output that has to be JSON', async () => {
    await using repository = await makeRepository();
    const made = await bosun(repository.path, 'init', '--template', 'triage', '--command', 'echo a bug');
    expect(made.stderr).not.toContain('has a key');
    const { code, stderr } = await bosun(repository.path, 'run', '--input', 'issue=x');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'the agent gives it as JSON: to the file that $BOSUN_OUTPUT names, with bosun agent done, or as all that it prints',
    );
  });
});

describe('bosun init', () => {
  it('says what is missing before a run can start', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'bosun-test-newcomer-'));
    try {
      const { code, stderr } = await bosun(directory, 'init');
      expect(code).toBe(0);
      expect(stderr).toContain('this directory is in no git repository');
      expect(stderr).toContain('git init && git add -A && git commit -m first');
      for (const command of ['status', 'history', 'logs'])
        expect((await bosun(directory, command)).stderr).toContain(
          'is not inside a git repository: go to the one whose runs you want to see',
        );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('refuses to leave another file than the one that is asked for', async () => {
    await using repository = await repositoryWith();
    expect((await bosun(repository.path, 'init')).code).toBe(0);
    const { code, stderr } = await bosun(repository.path, 'init', '--template', 'hello');
    expect([code, stderr]).toEqual([
      2,
      'bosun: bosun.yaml is there already, so nothing was written; move it away first, or edit it: docs/workflow-file.md has all fields\n',
    ]);
  });
});

describe('a run in the queue', () => {
  it('is told by wait, attach, status, logs and work, and its time there is nobody’s', async () => {
    await using repository = await repositoryWith();
    const at = repository.path;
    const first = (await bosun(at, 'run', '--queue')).stdout.trim();
    const second = (await bosun(at, 'run', '--queue')).stdout.trim();
    const status = await bosun(at, 'status');
    expect(status.stdout).toContain(`${first} pending`);
    expect(status.stdout).toContain(`${second} pending`);
    expect(status.stdout).toContain('2 runs wait in the queue (start with: bosun work)');
    for (const command of ['wait', 'attach']) {
      const started = start(at, command, second);
      await started.prints(`run ${second} waits in the queue; start it with: bosun work`);
      started.child.kill('SIGINT');
      await started.finished;
    }
    expect((await bosun(at, 'cancel', first)).code).toBe(0);
    const cancelled = JSON.parse((await bosun(at, 'status', first, '--json')).stdout) as {
      run: { createdAtMs: number; endedAtMs: number; idleMs: number };
    };
    const { createdAtMs, endedAtMs, idleMs } = cancelled.run;
    expect(idleMs).toBeGreaterThan(0);
    expect(endedAtMs - createdAtMs - idleMs).toBeLessThan(idleMs);
    const work = await bosun(at, 'work');
    expect(work.code).toBe(0);
    expect(work.stderr).toContain(`run ${second} is done; see: bosun report ${second}\n`);
    expect(work.stderr).toContain('nothing is left to do here: 1 done; see: bosun history\n');
    expect((await bosun(at, 'work')).stderr).toBe('bosun: no run waits in the queue\n');
    const logs = (await bosun(at, 'logs', second)).stdout;
    expect(logs).toMatch(/^ *0\.0s {2}quick-2 +queued: 1 task from/);
    expect(logs).toMatch(/\n *0\.0s {2}quick-2 +started, after \d\S* in the queue\n/);
  });
});

describe('an option that would say nothing', () => {
  it.each([
    [['exec', '--name', 'x', '--', 'true'], '--name says nothing without --parent (see: bosun exec --help)'],
    [['exec', '--attempts', '2', '--', 'true'], '--attempts says nothing without --check'],
    [
      ['exec', '--model', 'm', '--', 'true'],
      '--model is for an agent, and what follows -- is a plain command',
    ],
    [['exec', '--agent', 'a', '--timeout', '1m', 'x'], 'to start a runtime, write --runtime'],
    [['run', '--timing'], '--timing says nothing without --replay'],
    [['trust', '--json'], '--json says nothing without --list'],
    [['trust', '--all', '--remove'], '--all and --remove do not go together'],
    [['budget', '--agent', 'x'], '--agent says nothing without --usd, --tokens, --requests or --minutes'],
    [['report', '--open', '--json'], '--open and --json do not go together'],
    [['config', '--repository'], '--repository says nothing without set or unset'],
    [['init', '--list', '--template', 'review'], '--list and --template do not go together'],
    [['init', '--user'], '--user says nothing without --mcp'],
    [['pr', '--task', 'x'], '--task says nothing without --feedback'],
    [['git', 'status', '--depth', '1'], '--depth says nothing without clone'],
    [['workers', '--name', 'x'], '--name says nothing without set'],
    [['executions', 'show', 'x', '--key', 'k'], '--key says nothing without start'],
    [['token', 'list', '--role', 'run'], '--role says nothing without add'],
  ])('is refused: bosun %j', async (words, message) => {
    await using repository = await repositoryWith();
    const { code, stdout, stderr } = await bosun(repository.path, ...words);
    expect(stderr).toContain(`bosun: ${message}`.replace('bosun: to start', 'to start'));
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('a mistake', () => {
  it.each([
    [['run', '--usd'], '--usd needs a value: --usd <dollars> (see: bosun run --help)'],
    [['git', 'frob'], 'action must be clone, fetch, branch, commit, push, status or diff, not "frob"'],
    [['agents', 'a', 'b'], 'bosun agents takes one argument, not 2: a, b (see: bosun agents --help)'],
    [['config', 'get', 'agent'], 'there is no key agent; did you mean agents?'],
    [['config', 'unset', 'nothing.at'], 'there is no key nothing.at; the keys are isolation, agents,'],
    [['config', 'get', 'hooks'], 'hooks is not set, and has no default; see: bosun config'],
    [['agent', 'frob'], '"bosun agent" is for agents: it works only inside an attempt of a run.'],
    [['agent', 'inbox'], 'To message an agent from here: bosun steer <task> <message>'],
    [
      ['git', 'clone', 'owner/name'],
      '"owner/name" is not the address of a repository: write it in full, such as https://github.com/owner/name',
    ],
    [['git', 'clone', 'git.example.com/owner/name'], 'such as https://git.example.com/owner/name'],
  ])('is told in plain words: bosun %j', async (words, message) => {
    await using repository = await repositoryWith();
    const { code, stdout, stderr } = await bosun(repository.path, ...words);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('a list of nothing', () => {
  it.each([
    [['trust', '--list'], 'you trust no repository with more than itself'],
    [['workers'], 'no workers; make one with: bosun workers set my-agent --command "my-agent"'],
    [['templates'], 'no templates; make one with: bosun templates set'],
    [['items'], 'no items; make one with: bosun items set'],
    [['executions'], 'no executions; start one with: bosun executions start'],
    [['config', 'get', 'model'], 'model is not set, and has no default'],
  ])('is said: bosun %j', async (words, message) => {
    await using repository = await repositoryWith();
    const { code, stdout, stderr } = await own(repository, words);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([0, '']);
  });

  it('is said of messages too', async () => {
    await using repository = await repositoryWith();
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const { stdout, stderr } = await bosun(repository.path, 'status', '--messages');
    expect([stdout, stderr]).toEqual(['', 'in run quick-1 nobody has sent a message\n']);
  });
});

describe('bosun config', () => {
  it('shows defaults, and lists by their length', async () => {
    await using repository = await repositoryWith();
    const shown = await own(repository, ['config']);
    expect(shown.stdout).toMatch(/^budget\.enforce +ask +default$/m);
    expect(shown.stdout).toMatch(/^budget\.unknown-price +refuse +default$/m);
    const file = path.join(repository.path, '.git/home/config/bosun/config.yaml');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'hooks: [{ on: run-ended, command: echo s3cret }]\n');
    const listed = await own(repository, ['config', 'get', 'hooks']);
    expect(listed.stdout).toBe('1 entry, see them with: bosun hooks\n');
  });
});
