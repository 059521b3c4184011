/** Conformance is tried on a real agent, and on small ones of our own that are bad in a known way. */
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PAGE, withTable } from '../scripts/runtimes-table.ts';
import { testConformance, type ConformanceOptions } from '../src/operations/conformance/conformance.ts';
import {
  isConforming,
  MUST,
  ROWS,
  type ConformanceReport,
  type RowName,
} from '../src/operations/conformance/verdict.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import { bosun, BOSUN, startProgram } from './fixtures/cli.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const SLOW_MS = 120_000;

/** Speaks the Agent Client Protocol and asks no model: does what it does when it is prompted. */
function agent(does: string): string {
  return `sh -c '
while IFS= read -r line; do
  id=$(printf %s "$line" | sed -n "s/.*\\"id\\":\\([0-9]*\\).*/\\1/p")
  case $line in
  *initialize*) result="{\\"protocolVersion\\":1,\\"agentCapabilities\\":{}}" ;;
  *session/new*) result="{\\"sessionId\\":\\"one\\"}" ;;
  *session/prompt*) ${does}; result="{\\"stopReason\\":\\"end_turn\\"}" ;;
  *) continue ;;
  esac
  printf "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":%s,\\"result\\":%s}\\n" "$id" "$result"
done'`;
}

describe('conformance', { timeout: SLOW_MS }, () => {
  const before = { ...process.env };
  let caches: string;
  beforeEach(async () => {
    await mkdir(path.join(homedir(), '.cache'), { recursive: true });
    caches = await mkdtemp(path.join(homedir(), '.cache', 'bosun-test-'));
    process.env.XDG_CACHE_HOME = caches;
    process.env.PATH = `${REAL_BIN}:${before.PATH}`;
  });
  afterEach(async () => {
    process.env = { ...before };
    await removeTree(caches);
  });

  /** The rows by name; nothing is left of what was made for them. */
  const found = async (options: ConformanceOptions) => {
    const report = await testConformance(options);
    expect(await readdir(path.join(caches, 'bosun'))).toEqual([]);
    const rows = report.rows.map(({ row, holds }) => [row, holds] as const);
    return { report, rows: Object.fromEntries(rows) as Partial<Record<RowName, string>> };
  };

  it('finds out what a real agent can do', async () => {
    const told: string[] = [];
    const only = ['write', 'usage', 'cancel', 'orphans', 'resume', 'turns', 'http-401', 'ends'];
    const { report, rows } = await found({ runtime: 'codex', only, onRow: ({ row }) => told.push(row) });
    expect(rows).toEqual(Object.fromEntries(only.map((row) => [row, 'yes'])));
    expect(told.toSorted()).toEqual(only.toSorted());
    expect(report).toMatchObject({ runtime: 'codex', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(isConforming(report)).toBe(true);
  });

  it('sees through an agent that does its work without a model, and obeys what a repository plants', async () => {
    const command = agent('echo hi > hello.txt; touch planted-thing; echo no > outside.txt');
    const only = ['write', 'usage', 'settings', 'http-401', 'http-429', 'mcp', 'ends'];
    const { report, rows } = await found({ runtime: 'acp', command, only });
    expect(rows).toEqual({
      write: 'yes',
      usage: 'no',
      settings: 'partly',
      'http-401': 'no',
      'http-429': 'no',
      mcp: 'no',
      ends: 'yes',
    });
    expect(report.rows.find(({ row }) => row === 'settings')!.fact).toContain('planted-thing');
    expect(isConforming(report)).toBe(false);
  });

  it('ends an agent that never does, and says so', async () => {
    const only = ['write', 'cancel', 'ends'];
    const options = { runtime: 'acp', command: agent('sleep 1000'), only, timeoutMs: 2000 };
    const { report, rows } = await found(options);
    expect(rows).toEqual({ write: 'no', cancel: 'no', ends: 'no' });
    expect(report.rows.find(({ row }) => row === 'write')!.fact).toContain('did not end within');
  });

  it('begins nothing more once its time is over, or it is interrupted', async () => {
    const command = agent(':');
    const late = await found({ runtime: 'acp', command, totalMs: -1, only: ['write', 'cancel'] });
    expect(late.rows).toEqual({ write: 'untried', cancel: 'untried' });
    const signal = AbortSignal.timeout(500);
    const stopped = await found({ runtime: 'acp', command: agent('sleep 1000'), only: ['write'], signal });
    expect(stopped.rows).toEqual({ write: 'untried' });
  });

  it('gives a table to people, rows to programs, and its judgement as an exit code', async () => {
    const args = ['conformance', '--runtime', 'acp', '--command', 'exit 3', '--only', 'http-401'];
    const env = { XDG_CACHE_HOME: caches };
    const people = await startProgram([BOSUN, ...args], homedir(), env).finished;
    expect(people.code).toBe(1);
    expect(people.stdout).toMatch(/^no +http-401 +fails for its key, soon \(must\): crashed/m);
    expect(people.stderr).toContain('bosun cannot rely on it: http-401');
    const programs = await startProgram([BOSUN, ...args, '--json'], homedir(), env).finished;
    expect(JSON.parse(programs.stdout)).toMatchObject({
      runtime: 'acp',
      command: 'exit 3',
      rows: [{ row: 'http-401', holds: 'no', must: true }],
    });
  });

  it.each([
    [['--runtime', 'codx'], 'there is no runtime "codx"; did you mean "codex"?'],
    [['--runtime', 'cli'], 'asks no model through bosun'],
    [['--runtime', 'acp'], 'add --command, such as "gemini --acp"'],
    [['--runtime', 'codex', '--command', 'x'], 'only the runtime acp takes a command'],
    [['--runtime', 'acp', '--command', 'x', '--only', 'all'], 'there is no check "all"'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await bosun(homedir(), 'conformance', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('says how an agent is installed that is not there', async () => {
    const env = { PATH: '/usr/bin:/bin', XDG_CACHE_HOME: caches };
    const { code, stderr } = await startProgram([BOSUN, 'conformance', '--runtime', 'codex'], homedir(), env)
      .finished;
    expect(code).not.toBe(0);
    expect(stderr).toContain('install it with npm install -g @openai/codex');
  });
});

describe('what was measured', () => {
  const files = globSync('docs/conformance/*.json');
  const reports = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as ConformanceReport);

  it('is what the page on runtimes shows', async () => {
    const page = readFileSync(PAGE, 'utf8');
    expect(await withTable(page)).toBe(page);
  });

  it('has every runtime that asks a model, with every row', () => {
    expect(reports.map(({ runtime }) => runtime).toSorted()).toEqual([
      'acp',
      'acp',
      'acp',
      'claude-code',
      'codex',
      'opencode',
    ]);
    for (const { rows } of reports) expect(rows.map(({ row }) => row)).toEqual(Object.keys(ROWS));
  });

  it('holds for all of them where it must', () => {
    for (const { runtime, rows } of reports)
      for (const { row, holds } of rows)
        if (MUST.has(row)) expect([runtime, row, holds]).toEqual([runtime, row, 'yes']);
  });
});
