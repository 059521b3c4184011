import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/contract/event.ts';
import type { RunReport } from '../../src/contract/report.ts';
import { COMMANDS } from '../../src/doors/cli/table.ts';
import { BOSUN, bosun, eventsIn, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

function repositoryWith(workflow: string, more: Record<string, string> = {}): Promise<TestRepository> {
  return makeRepository({ files: { 'README.md': 'hello\n', 'bosun.yaml': workflow, ...more } });
}

const TWO = `
name: two
tasks:
  one: { run: 'echo from one; echo 1 > one.txt' }
  two: { needs: [one], run: 'echo 2 > two.txt' }
`;
const FAILING = `
name: failing
tasks:
  bad: { run: 'echo oh no >&2; exit 7' }
`;
/** Ends at once when asked to, and keeps what it did. */
const SLOW = `
name: slow
tasks:
  sleeper: { run: 'echo half > half.txt; trap "exit 1" TERM; echo ready; sleep 30 & wait' }
`;
/** Does not end when asked to. */
const STUBBORN = `
name: stubborn
tasks:
  mule: { run: 'trap "" TERM INT HUP; echo ready; while :; do sleep 0.1; done' }
`;
const ASKING = `
name: asking
tasks:
  work: { run: 'echo 1 > work.txt' }
  ship: { needs: [work], approve: 'Merge into main?' }
`;

describe('the command line', () => {
  it('tells its version, and nothing else', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await bosun('/', '--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('lists every command, and shows examples in the help of each', async () => {
    const { code, stdout } = await bosun('/', '--help');
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    const helps = await Promise.all(
      ['run', 'exec', 'answer', 'completion'].map((name) => bosun('/', name, '--help')),
    );
    for (const help of helps) {
      expect([help.code, help.stderr]).toEqual([0, '']);
      expect(help.stdout).toMatch(/Usage: bosun \w+[^]*Examples:\n  bosun \w+/);
    }
  });

  it.each([
    [['stauts'], 'did you mean "bosun status"?'],
    [['frobnicate'], 'unknown command "frobnicate" (all commands: bosun --help)'],
    [['help', 'frobnicate'], 'unknown command "frobnicate" (all commands: bosun --help)'],
    [['list'], 'unknown command "list"; did you mean "bosun history"?'],
    [['watch'], 'did you mean "bosun logs -f"?'],
    [['logs', '--tail', '5'], "unknown option '--tail'; for the last lines: bosun logs | tail (see"],
    [
      ['merge', '--dry-run'],
      "unknown option '--dry-run'; to see what it would merge, and what conflicts: --preview (see",
    ],
    [['run', '--usd', 'lots'], '--usd must be a number above 0, such as 2.50, not "lots"'],
    [['logs', '--folow'], "unknown option '--folow'; did you mean --follow?"],
    [['status', 'a', 'b'], 'bosun status takes one argument, not 2: a, b (see'],
    [['retry'], 'bosun retry needs <task>: a task that failed, was skipped or was cancelled (see'],
    [['report', '--format', 'pdf'], '--format must be text, json or html, not "pdf" (see'],
    [['run', '--input', 'x'], 'write it as --input name=value'],
    [['exec', 'npm', 'test'], 'bosun exec -- npm test; a prompt needs an agent, as in: bosun exec --runtime'],
    [['exec'], 'nothing to do'],
    [
      ['exec', '--runtime', 'codx', 'x'],
      '--runtime: expected one of claude-code, opencode, codex, acp, cli, got "codx"',
    ],
    [
      ['exec', '--runtime', 'acp', 'x'],
      '--runtime acp needs --command: what to start, as in --command "gemini',
    ],
    [['exec', '--runtime', 'cli', 'x'], '--runtime cli needs --command: what to start'],
    [['diff', '--attempt', '1'], 'name it with --task'],
    [['answer'], 'write: bosun answer [question] <answer>'],
    [['answer', 'a', 'b', 'c'], 'put an answer of several words in quotes'],
  ])('answers bosun %j with exit code 2 and what to do', async (args, message) => {
    await using repository = await repositoryWith(TWO);
    const { code, stdout, stderr } = await bosun(repository.path, ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^bosun: /);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('says what is missing where there is no run, no workflow, no repository', async () => {
    await using repository = await makeRepository();
    expect(await bosun(repository.path, 'status')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('start one with: bosun run'),
    });
    expect(await bosun(repository.path, 'run')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('bosun init'),
    });
    expect(await bosun('/', 'exec', '--', 'true')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('git init'),
    });
  });

  it('writes a first workflow that runs as it is, and never overwrites one', async () => {
    await using repository = await makeRepository();
    expect(await bosun(repository.path, 'init')).toMatchObject({ code: 0, stdout: 'bosun.yaml\n' });
    const text = readFileSync(path.join(repository.path, 'bosun.yaml'), 'utf8');
    expect(await bosun(repository.path, 'init')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('stays as it is'),
    });
    expect(readFileSync(path.join(repository.path, 'bosun.yaml'), 'utf8')).toBe(text);
    await using other = await makeRepository({ files: { 'bosun.json': '{}' } });
    expect((await bosun(other.path, 'init')).stderr).toContain('bosun.json is there already');
    const { code, stdout } = await bosun(repository.path, 'run', '--usd', '2.5');
    expect(code).toBe(0);
    expect(stdout).toContain('bosun merge hello-1');
    // What one tries next: the report for a program, and a task in the place of a run.
    const { budgets } = JSON.parse((await bosun(repository.path, 'report', '--json')).stdout) as RunReport;
    expect(budgets).toMatchObject([{ account: 'run', limits: [{ unit: 'usd', limit: 2.5 }] }]);
    expect(await bosun(repository.path, 'logs', 'notes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'there is no run notes, but run hello-1 has a task of that name: bosun logs --task notes,',
      ),
    });
  });

  it('says what this machine has', async () => {
    await using repository = await makeRepository();
    const { code, stdout } = await bosun(repository.path, 'doctor');
    expect(code).toBe(0);
    for (const name of ['node', 'git', 'repository', 'namespaces', 'overlay', 'disk', 'tar'])
      expect(stdout).toMatch(new RegExp(`^(ok|warn) +${name} `, 'm'));
    expect(await repository.git('status', '--porcelain')).toBe('');
  });

  it.each(['bash', 'zsh', 'fish'])(
    'prints a completion script for %s that knows all commands',
    async (shell) => {
      const { code, stdout } = await bosun('/', 'completion', shell);
      expect(code).toBe(0);
      for (const { name } of COMMANDS) expect(stdout).toContain(name);
      if (shell !== 'bash') return;
      const complete = `${stdout}\nCOMP_WORDS=(bosun his); COMP_CWORD=1; _bosun; echo "\${COMPREPLY[@]}"`;
      expect((await promisify(execFile)('bash', ['-c', complete])).stdout).toBe('history\n');
    },
  );
});

describe('bosun check', () => {
  it('shows the tasks', async () => {
    await using repository = await makeRepository({
      files: { 'bosun.yaml': readFileSync('test/fixtures/workflows/calculator.yaml', 'utf8') },
    });
    const { code, stdout } = await bosun(repository.path, 'check');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok: 6 tasks, 3 agents/);
    expect(stdout).toMatch(/└─ implement +developer \(opencode\)/);
  });

  it('names the place of what is wrong, with exit code 2', async () => {
    await using repository = await repositoryWith(
      'name: w\ntasks:\n  one: { run: "true", nedes: [two] }\n  three: { run: "true", needs: [onne] }\n',
    );
    for (const command of ['check', 'run']) {
      const { code, stdout, stderr } = await bosun(repository.path, command);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/bosun\.yaml:3:\d+: .*nedes/);
      expect(stderr).toMatch(/bosun\.yaml:4:\d+: .*did you mean "one"/);
      expect(stderr).toContain('^^^');
    }
  });

  it('is what a dry run shows, and nothing is started', async () => {
    await using repository = await repositoryWith(TWO);
    const { code, stdout } = await bosun(repository.path, 'run', '--dry-run');
    expect([code, stdout.split('\n')[2]]).toEqual([0, '  └─ two  $ echo 2 > two.txt']);
    expect(existsSync(path.join(repository.path, '.git/bosun/journal.db'))).toBe(false);
  });
});

describe('bosun run, piped', () => {
  it('tells what happens in lines on stderr and gives the report on stdout', async () => {
    await using repository = await repositoryWith(TWO);
    const { code, stdout, stderr } = await bosun(repository.path, 'run');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^ +\d\.\ds {2}one +started \(attempt 1\)$/m);
    expect(stderr).toMatch(/^ +\d\.\ds {2}two +done in .*, 1 file changed$/m);
    expect(stderr).not.toContain('from one');
    expect(stdout).toMatch(/^✓ two-1 done in /);
    expect(stdout + stderr).not.toContain('\u001b');
    const logs = await bosun(repository.path, 'logs');
    expect(logs.stdout).toMatch(/ {2}one +│ from one$/m);
    expect(await bosun(repository.path, 'diff', '--stat')).toMatchObject({
      stdout: expect.stringContaining('2 files, +2 -0'),
    });
    const merged = await bosun(repository.path, 'merge');
    expect(merged.stdout.trim()).toBe(await repository.git('rev-parse', 'HEAD'));
    expect(await bosun(repository.path, 'history', '--json')).toMatchObject({
      stdout: expect.stringMatching(/^\{"id":"two-1".*\}\n$/),
    });
  });

  it('prints every event as a line of JSON with --json, and nothing else', async () => {
    await using repository = await repositoryWith(TWO);
    const { code, stdout, stderr } = await bosun(repository.path, 'run', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const recorded = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded);
    expect(recorded.map(({ seq }) => seq)).toEqual(recorded.map((_, n) => n + 1));
    expect(recorded[0]!.event.type).toBe('run.created');
    expect(recorded.at(-1)!.event).toEqual({ type: 'run.finished', state: 'done' });
    const logged = await bosun(repository.path, 'logs', '--json');
    expect(logged.stdout).toBe(stdout);
  });

  it('ends with exit code 1 where a task failed, and retry goes on from there', async () => {
    await using repository = await repositoryWith(FAILING);
    const failed = await bosun(repository.path, 'run', '--verbose');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/bad .*│ oh no/);
    expect(failed.stdout).toContain('bosun retry bad');
    const retried = await bosun(repository.path, 'retry', 'bad', '--json');
    expect(retried.code).toBe(1);
    expect(eventsIn(retried.stdout)[1]).toMatchObject({ type: 'task.retried', task: 'bad' });
  });

  it('runs one command or one agent with no workflow file', async () => {
    await using repository = await makeRepository();
    const command = await bosun(
      repository.path,
      'exec',
      '--',
      'printf',
      '%s\n',
      "it's ${{ plain }}",
      '--',
      '-x',
    );
    expect(command.code).toBe(0);
    expect(command.stderr).toContain("│ it's ${{ plain }}");
    expect(command.stderr).toContain('✓ exec-1 done');
    // Only the answer is data.
    expect(command.stdout).toBe("it's ${{ plain }}\n--\n-x\n");
    const agent = await bosun(
      repository.path,
      'exec',
      '--runtime',
      'cli',
      '--command',
      'cat > said.txt',
      'Say ${{ this }}',
    );
    expect(agent.code).toBe(0);
    expect((await bosun(repository.path, 'diff')).stdout).toContain('+Say ${{ this }}');
  });

  it('goes on where nobody reads what it prints; a command that only shows things ends quietly', async () => {
    const lines = 'for i in $(seq 2000); do echo line $i; done';
    await using repository = await repositoryWith(`name: wordy\ntasks:\n  talk: { run: '${lines}' }\n`);
    const shell = promisify(execFile);
    const piped = await shell('sh', ['-c', `"${BOSUN}" run --json | true; "${BOSUN}" logs | head -n 2`], {
      cwd: repository.path,
    });
    expect(piped.stdout.split('\n')).toHaveLength(3);
    expect(piped.stderr).toBe('');
    expect((await bosun(repository.path, 'status')).stdout).toContain('wordy-1 done');
  });
});

describe('a run that is interrupted', () => {
  it('ends gracefully at Ctrl-C, keeping the work, with exit code 3', async () => {
    await using repository = await repositoryWith(SLOW);
    const run = start(repository.path, 'run', '--verbose');
    await run.prints('│ ready');
    run.child.kill('SIGINT');
    const { code, stderr, stdout } = await run.finished;
    expect(code).toBe(3);
    expect(stderr).toContain('Ctrl-C again stops them now');
    expect(stdout).toContain('bosun resume');
    expect((await bosun(repository.path, 'diff', '--task', 'sleeper')).stdout).toContain('+half');
  });

  it('ends now at the second Ctrl-C', async () => {
    await using repository = await repositoryWith(STUBBORN);
    const run = start(repository.path, 'run', '--verbose');
    await run.prints('│ ready');
    run.child.kill('SIGINT');
    await run.prints('Ctrl-C again');
    run.child.kill('SIGINT');
    expect((await run.finished).code).toBe(3);
    const events = eventsIn((await bosun(repository.path, 'logs', '--json')).stdout);
    const modes = events.flatMap((event) => (event.type === 'run.cancelling' ? [event.mode] : []));
    expect(modes).toEqual(['graceful', 'now']);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('ends gracefully at %s', async (signal) => {
    await using repository = await repositoryWith(SLOW);
    const run = start(repository.path, 'run', '--verbose');
    await run.prints('│ ready');
    run.child.kill(signal);
    expect((await run.finished).code).toBe(3);
    expect((await bosun(repository.path, 'status')).stdout).toContain('slow-1 cancelled');
  });

  it('can be cancelled from elsewhere, and nobody else may drive it meanwhile', async () => {
    await using repository = await repositoryWith(STUBBORN);
    const run = start(repository.path, 'run', '--verbose');
    await run.prints('│ ready');
    expect((await bosun(repository.path, 'status')).stdout).toMatch(
      /stubborn-1 running for .*\n.*1 running · trap "" TERM INT HUP; .*\n\n.*mule/,
    );
    expect(await bosun(repository.path, 'resume')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/another bosun \(process \d+\) is at work on run stubborn-1/),
    });
    expect(await bosun(repository.path, 'cancel', '--now')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('bosun resume stubborn-1'),
    });
    expect((await run.finished).code).toBe(3);
  });

  it('is shown as interrupted after its engine was killed, and goes on with resume', async () => {
    await using repository = await repositoryWith(`
name: killed
tasks:
  first: { run: 'echo 1 > first.txt' }
  second: { needs: [first], run: 'test $BOSUN_ATTEMPT = 2 || { echo ready; sleep 30; }; echo $WORD > second.txt', env: { WORD: '\${{ inputs.word }}' } }
inputs: { word: { required: true } }
`);
    const run = start(repository.path, 'run', '--verbose', '--input', 'word=two');
    await run.prints('│ ready');
    run.child.kill('SIGKILL');
    await run.finished;
    const status = await bosun(repository.path, 'status');
    expect(status.stdout).toContain('killed-1 interrupted');
    expect(status.stdout).toContain('bosun resume killed-1');
    const resumed = await bosun(repository.path, 'resume', '--json');
    expect(resumed.code).toBe(0);
    const startedAgain = eventsIn(resumed.stdout).flatMap((event) =>
      event.type === 'attempt.started' ? [event.task] : [],
    );
    expect(startedAgain).toEqual(['second']);
    expect((await bosun(repository.path, 'status', '--json')).stdout).toContain('"state":"done"');
    expect((await bosun(repository.path, 'diff')).stdout).toContain('+two');
  });
});

describe('a question', () => {
  it('is told with how to answer it, and answered from elsewhere', async () => {
    await using repository = await repositoryWith(ASKING);
    const run = start(repository.path, 'run');
    await run.prints('bosun answer ship yes|no --run asking-1');
    expect((await bosun(repository.path, 'status')).stdout).toContain('Merge into main?');
    expect(await bosun(repository.path, 'answer', 'ship', 'yes', '--note', 'looks good')).toMatchObject({
      code: 0,
    });
    expect((await run.finished).code).toBe(0);
    expect((await bosun(repository.path, 'logs')).stdout).toContain('looks good');
    expect(await bosun(repository.path, 'answer', 'yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no open question'),
    });
  });

  it('ends the run with exit code 1 where the answer is no', async () => {
    await using repository = await repositoryWith(ASKING);
    const run = start(repository.path, 'run', '--json');
    await run.prints('"question.asked"');
    await bosun(repository.path, 'answer', 'no');
    const { code, stderr } = await run.finished;
    expect(code).toBe(1);
    expect(stderr).toContain('bosun answer ship');
  });
});

describe('the live view in a terminal', () => {
  it('shows the tasks at work, takes the answer to a question, and ends with the report', async () => {
    await using repository = await repositoryWith(`
name: live
tasks:
  work: { run: 'echo hard at it; sleep 1' }
  ship: { needs: [work], approve: 'Merge into main?' }
`);
    await using terminal = await openTerminal(['run'], { cwd: repository.path });
    const working = await terminal.shows('hard at it');
    expect(working).toMatch(/^● live-1 {2}1 running, 1 waiting {2}\d\.\ds$/m);
    expect(working).toMatch(/^● running +work +\d\.\ds {2}hard at it$/m);
    expect(working).toContain('Ctrl-C stops');
    await terminal.shows(/^\? ship: Merge into main\?\n {2}work:\n {2}\| hard at it\n {2}\[y\]es \[n\]o/m);
    await terminal.press('y');
    const report = await terminal.shows('exit 0');
    expect(report).toMatch(/^✓ live-1 done/m);
    expect(report).not.toContain('Ctrl-C stops');
  });

  it('opens a task with its log and diff, folds what is done, and lets the shell have the terminal at Ctrl-Z', async () => {
    await using repository = await repositoryWith(`
name: live
tasks:
  group: { for-each: [1, 2], run: 'true' }
  made: { run: 'echo new > new.txt; echo made it; sleep 5' }
  long: { run: 'for i in $(seq 300); do echo line $i; sleep 0.2; done' }
`);
    await using terminal = await openTerminal(['run'], { cwd: repository.path, shell: true });
    expect(await terminal.shows(/^✓ done +group .*all 2 done$/m)).not.toContain('group.1');
    await terminal.press('Down', 'Down');
    await terminal.shows(/^› . \w+ +made/m);
    await terminal.press('Enter');
    expect(await terminal.shows('│ made it')).toContain('d diff · esc back');
    await terminal.press('d'); // it may have left nothing yet: what it leaves is shown once it is there
    await terminal.shows(/^\+new$/m);
    await terminal.press('q');
    await terminal.shows(/● running +long/);
    await terminal.press('C-z');
    expect(await terminal.shows('Stopped')).not.toContain('● running');
    // The terminal is the shell's again, as it was: it echoes what is typed.
    await terminal.press('echo it $((40 + 2))', 'Enter');
    await terminal.shows('it 42');
    await terminal.press('fg', 'Enter');
    await terminal.shows(/● running +long .*line/);
    await terminal.press('C-c');
    await terminal.shows(/on your branch\nbash\S*[#$]/); // what is typed sooner would be bosun's
    await terminal.press('echo exit $?', 'Enter');
    await terminal.shows('exit 3');
  });

  it('fits a narrow terminal, follows its size, and stops gracefully at Ctrl-C', async () => {
    const tasks = Array.from(
      { length: 30 },
      (_, n) => `  task-${n}: { run: 'echo line; sleep 30', workspace: none }`,
    );
    await using repository = await repositoryWith(
      `name: narrow\nconcurrency: 2\ntasks:\n${tasks.join('\n')}\n`,
    );
    await using terminal = await openTerminal(['run'], { cwd: repository.path, columns: 40, rows: 20 });
    const small = await terminal.shows(/●.*task-1 .*line/);
    expect(small).toMatch(/^… \d+ more: \d+ ready$/m);
    await terminal.resize(100, 40);
    expect(await terminal.shows(/● running +task-0/)).toMatch(/○ ready +task-29/);
    await terminal.press('C-c');
    await terminal.shows('exit 3');
  });

  it('keeps the work where the terminal is closed', async () => {
    await using repository = await repositoryWith(SLOW);
    const terminal = await openTerminal(['run'], { cwd: repository.path });
    await using _ = terminal;
    await terminal.shows('ready');
    await terminal.hangUp();
    await expect
      .poll(async () => (await bosun(repository.path, 'status')).stdout, { timeout: 10_000 })
      .toContain('slow-1 cancelled');
    expect((await bosun(repository.path, 'diff', '--task', 'sleeper')).stdout).toContain('+half');
  });
});
