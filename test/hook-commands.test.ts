/** Commands and functions as hooks: real processes, as odd as they come. What a run makes of them is in e2e/hooks.test.ts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { BeforeAttempt, HookAnswer } from '../src/contract/hook.ts';
import { askCommand, tellCommand } from '../src/hooks/command-hook.ts';
import { callFunction } from '../src/hooks/function-hook.ts';
import { answerFromText } from '../src/hooks/hook-answer.ts';
import { Lane } from '../src/hooks/lane.ts';
import { BareLauncher } from '../src/sandbox/none.ts';
import { isAlive } from '../src/system/process/is-alive.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'bosun-hooks-'));
afterAll(() => rmSync(directory, { recursive: true }));

const INPUT: BeforeAttempt = {
  type: 'before-attempt',
  at: '2026-01-01T00:00:00.000Z',
  run: 'w-1',
  workflow: 'w',
  repository: directory,
  task: 'build',
  attempt: 2,
  purpose: 'work',
  prompt: 'Build it.',
};

/** Who was killed is there until the first process of the machine has looked. */
const GONE = { timeout: 20_000 };

const launcher = new BareLauncher();
const surroundings = { cwd: directory, env: { PATH: process.env.PATH! }, launcher };

function ask(command: string | string[], signal = new AbortController().signal): Promise<HookAnswer> {
  return askCommand({ ...surroundings, command }, INPUT, signal);
}

describe('a command before an attempt', () => {
  it('gets JSON on its stdin, and names in its environment and nothing else of ours', async () => {
    await ask('cat > input.json; env | sort > env.txt');
    expect(JSON.parse(readFileSync(path.join(directory, 'input.json'), 'utf8'))).toEqual(INPUT);
    const names = readFileSync(path.join(directory, 'env.txt'), 'utf8')
      .split('\n')
      .map((line) => line.split('=')[0]);
    const own = ['BOSUN_ATTEMPT', 'BOSUN_HOOK', 'BOSUN_LAUNCH', 'BOSUN_RUN', 'BOSUN_TASK'];
    expect(names.filter((name) => !['', 'PATH', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name!))).toEqual(own);
  });

  it.each<[string, string | string[], HookAnswer]>([
    ['that says nothing lets it go on', 'true', {}],
    [
      'can add variables and words',
      `echo '{"env":{"A":"1"},"prompt":"Mind the gap."}'`,
      { env: { A: '1' }, prompt: 'Mind the gap.' },
    ],
    ['can veto in JSON', `echo '{"veto":"not now"}'`, { veto: 'not now' }],
    [
      'vetoes by its exit code, with what it said on stderr',
      'echo "not on a Friday" >&2; exit 3',
      { veto: 'not on a Friday' },
    ],
    ['vetoes by its exit code alone', 'exit 7', { veto: 'it ended with exit code 7' }],
    ['vetoes by a signal', 'kill -9 $$', { veto: 'it was ended by SIGKILL' }],
    ['that fails with a reason in JSON vetoes with that', `echo '{"veto":"so"}'; exit 1`, { veto: 'so' }],
    ['that fails and prints rubbish vetoes all the same', 'echo "{"; echo no >&2; exit 1', { veto: 'no' }],
    ['that closes its stdin early is heard', 'exec <&-; sleep 0.1; echo \'{"prompt":"x"}\'', { prompt: 'x' }],
    [
      'can be a list of words, which no shell reads',
      ['printf', '{"prompt":"%s"}', '$HOME'],
      { prompt: '$HOME' },
    ],
  ])('%s', async (_, command, answer) => {
    expect(await ask(command)).toEqual(answer);
  });

  it('that does not exist vetoes and says so', async () => {
    expect((await ask(['no-such-program-here'])).veto).toMatch(/no-such-program-here|exit code 127/);
  });

  it.each([
    ['is not JSON', 'echo ok', 'is not JSON'],
    ['is a list', "echo '[]'", 'is not a map of fields'],
    ['has an unknown field', `echo '{"environment":{}}'`, 'unknown field "environment"'],
    ['sets what bosun sets', `echo '{"env":{"BOSUN_RUN":"x"}}'`, 'which bosun sets itself'],
    ['names no variable', `echo '{"env":{"A B":"x"}}'`, "is not a variable's name"],
    ['has a number for a value', `echo '{"env":{"A":1}}'`, 'whose value is not text'],
    [
      'has a prompt without end',
      `head -c 70000 /dev/zero | tr '\\0' a | sed 's/.*/{"prompt":"&"}/'`,
      'more than',
    ],
    ['nests without end', `head -c 9000 /dev/zero | tr '\\0' '['`, 'is not JSON'],
  ])('whose answer %s is refused', async (_, command, message) => {
    await expect(ask(command)).rejects.toThrow(message);
  });

  it('that prints without end is ended', async () => {
    await expect(ask('yes')).rejects.toThrow('it printed more than 1 MB');
    await expect(ask('yes >&2')).rejects.toThrow('it printed more than 1 MB');
  });

  it('that hangs is ended with all that it started, also what left its group and ignores signals', async () => {
    const pids = path.join(directory, 'pids');
    const stop = new AbortController();
    const asked = ask(
      `setsid sh -c 'trap "" TERM HUP; echo $$ >> ${pids}; sleep 1000' & echo $$ >> ${pids}; wait`,
      stop.signal,
    );
    const started = (): number[] => {
      try {
        return readFileSync(pids, 'utf8').trim().split('\n').map(Number);
      } catch {
        return [];
      }
    };
    await expect.poll(() => started().length, { timeout: 20_000 }).toBe(2);
    stop.abort(new Error('it is late'));
    await expect(asked).rejects.toThrow('it is late');
    await expect.poll(() => started().filter(isAlive), GONE).toEqual([]);
  });

  it('that leaves a daemon behind, which holds its output open, is over when it ends itself', async () => {
    const file = path.join(directory, 'daemon');
    expect(await ask(`setsid sleep 1000 & echo $! > ${file}`)).toEqual({});
    await expect.poll(() => isAlive(Number(readFileSync(file, 'utf8'))), GONE).toBe(false);
  });

  it('is not started where nobody waits for it any more', async () => {
    await expect(ask('touch started', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(() => readFileSync(path.join(directory, 'started'))).toThrow('ENOENT');
  });
});

describe('a command after the fact', () => {
  it('fails with its exit code and its last words', async () => {
    const until = { signal: new AbortController().signal };
    const told = tellCommand({ ...surroundings, command: 'echo "no route" >&2; exit 4' }, INPUT, until);
    await expect(told).rejects.toThrow('it ended with exit code 4: no route');
    await tellCommand({ ...surroundings, command: 'echo this is not JSON' }, INPUT, until);
  });
});

describe('a function before an attempt', () => {
  const signal = new AbortController().signal;

  it.each<[unknown, HookAnswer]>([
    [undefined, {}],
    [true, {}],
    [false, { veto: 'it said no' }],
    [{ veto: '' }, { veto: 'it said no' }],
    [{ env: { A: 'b' } }, { env: { A: 'b' } }],
  ])('that gives %j means %j', async (given, answer) => {
    expect(await callFunction(() => given as HookAnswer, INPUT, signal)).toEqual(answer);
  });

  it('throws what it throws, and what it may not answer', async () => {
    const fail = (): never => {
      throw new Error('boom');
    };
    await expect(callFunction(fail, INPUT, signal)).rejects.toThrow('boom');
    await expect(callFunction(() => 5, INPUT, signal)).rejects.toThrow('not a map of fields');
  });

  it('that never ends is not waited for, and is told', async () => {
    const stop = new AbortController();
    const told = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    const called = callFunction(
      (_, own) => {
        started.resolve();
        own.addEventListener('abort', () => told.resolve(own.reason));
        return new Promise<never>(() => {});
      },
      INPUT,
      stop.signal,
    );
    await started.promise;
    stop.abort(new Error('it is late'));
    await expect(called).rejects.toThrow('it is late');
    await expect(told.promise).resolves.toMatchObject({ message: 'it is late' });
  });

  it('cannot change what the others get', async () => {
    await callFunction((input) => void ((input as BeforeAttempt).prompt = 'changed'), INPUT, signal);
    expect(INPUT.prompt).toBe('Build it.');
  });
});

describe('an answer', () => {
  it('is bounded in its reason and its variables', () => {
    const { veto } = answerFromText(JSON.stringify({ veto: 'x'.repeat(5000) }));
    expect(veto).toHaveLength(2000);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`V${n}`, '']));
    expect(() => answerFromText(JSON.stringify({ env: many }))).toThrow('more than 100 variables');
    expect(() => answerFromText(JSON.stringify({ env: { A: 'x'.repeat(100_000) } }))).toThrow(
      'more than 98304',
    );
    expect(() => answerFromText(JSON.stringify({ env: { A: 'a\0b' } }))).toThrow('NUL');
  });
});

describe('a lane', () => {
  it('tells one after another, leaves out what is too much, and says so', async () => {
    const lane = new Lane();
    const gate = Promise.withResolvers<void>();
    const told: number[] = [];
    const left: string[] = [];
    for (let n = 0; n < 203; n++)
      lane.add({
        act: async () => {
          await gate.promise;
          told.push(n);
        },
        leave: (why) => left.push(`${n}: ${why}`),
      });
    gate.resolve();
    await lane.idle();
    expect(told).toEqual(Array.from({ length: 201 }, (_, n) => n));
    expect(left.map((line) => line.split(':')[0])).toEqual(['201', '202']);
  });
});
