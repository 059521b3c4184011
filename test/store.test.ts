import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { isLocked, takeLock } from '../src/store/lock.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { testStore } from './cases/store.case.ts';

async function directory(): Promise<AsyncDisposable & { file(name: string): string }> {
  const at = await mkdtemp(path.join(tmpdir(), 'bosun-store-'));
  return {
    file: (name) => path.join(at, name),
    [Symbol.asyncDispose]: () => rm(at, { recursive: true }),
  };
}

testStore('SQLite store', async () => {
  const home = await directory();
  const store = openSqliteStore(home.file('journal.db'));
  return {
    store,
    again: async () => openSqliteStore(home.file('journal.db')),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
});

describe('SQLite store on bad files', () => {
  it('says that a damaged journal is damaged, and where the work is', async () => {
    await using home = await directory();
    await writeFile(home.file('journal.db'), 'this is no database, '.repeat(1000));
    expect(() => openSqliteStore(home.file('journal.db'))).toThrow(
      /is damaged.*Move it aside: mkdir.*are kept: git --git-dir/,
    );
  });

  it('does not touch a journal of a newer bosun', async () => {
    await using home = await directory();
    const db = new DatabaseSync(home.file('journal.db'));
    db.exec('PRAGMA user_version = 999');
    db.close();
    expect(() => openSqliteStore(home.file('journal.db'))).toThrow(/written by a newer bosun .*update bosun/);
  });

  it('says that its directory cannot be written', () => {
    expect(() => openSqliteStore('/proc/nowhere/journal.db')).toThrow(
      /cannot open the journal .*check that you may write its directory/,
    );
  });
});

describe('SQLite store with an event that is not one', () => {
  const cases = [
    ['{"type":"task.admitted"}', 2, /event 3 of run a-1 is malformed: task\.admitted: task must be text/],
    [
      '{"type":"timer.fired","task":"a","attempt":"1"}',
      2,
      /event 3 of run a-1 .*: timer\.fired: attempt must be a number/,
    ],
    ['{"type":"task.dreamt","task":"a"}', 2, /event 3 of run a-1 .* unknown type, "task\.dreamt"/],
    ['[]', 2, /event 3 of run a-1 is malformed: it has no type/],
    [
      '{"type":"attempt.finished","task":"a","attempt":1,"durationMs":1,"outcome":{"kind":"won"}}',
      2,
      /event 3 of run a-1 .*: attempt\.finished: outcome/,
    ],
    // A retry says why since format 2.
    [
      '{"type":"task.delayed","task":"a","attempt":1,"delayMs":1}',
      2,
      /event 3 .*: task\.delayed: because must be text/,
    ],
    ['{"type":"task.delayed","task":"a","attempt":1,"delayMs":1}', 1, undefined],
    [
      '{"type":"task.admitted","task":"a"}',
      4,
      /event 3 of run a-1 .* newer bosun .*; update bosun to use it$/,
    ],
  ] as const;

  it.each(cases)('names run and number of %s in format %i', async (body, format, message) => {
    await using home = await directory();
    const file = home.file('journal.db');
    await using store = openSqliteStore(file);
    const db = new DatabaseSync(file);
    const sql = "INSERT INTO event (run, seq, at_ms, type, body, format) VALUES ('a-1', 3, 7, 'x', ?, ?)";
    db.prepare(sql).run(body, format);
    db.close();
    if (message) await expect(store.read('a-1')).rejects.toThrow(message);
    else expect(await store.read('a-1')).toHaveLength(1);
  });
});

describe('SQLite store of an earlier bosun', () => {
  const first = { run: 'a-1', seq: 1, atMs: 7, event: { type: 'task.admitted', task: 'a' } };
  // An engine of then may still be at work: it knows nothing of formats.
  const insert = `INSERT INTO event (run, seq, at_ms, type, task, body)
    VALUES ('a-1', 1, 7, 'task.admitted', 'a', '${JSON.stringify(first.event)}')`;

  it('says of its events that they are of format 1', async () => {
    await using home = await directory();
    const file = home.file('journal.db');
    await using store = openSqliteStore(file);
    const db = new DatabaseSync(file);
    db.exec(insert);
    db.close();
    expect(await store.read('a-1')).toEqual([{ ...first, format: 1 }]);
  });

  it('can be read where nothing may be changed', async () => {
    await using home = await directory();
    const file = home.file('journal.db');
    await openSqliteStore(file)[Symbol.asyncDispose]();
    const db = new DatabaseSync(file);
    db.exec(`${insert}; ALTER TABLE event DROP COLUMN format; PRAGMA user_version = 3`);
    db.close();
    await using store = openSqliteStore(file, { readOnly: true });
    expect(await store.read('a-1')).toEqual([{ ...first, format: 1 }]);
  });
});

describe('engine lock', () => {
  it('says that it is a lock, and what to do, where it cannot be used', async () => {
    await using home = await directory();
    const file = home.file('broken.lock');
    await writeFile(file, 'no database '.repeat(1000));
    expect(() => takeLock(file)).toThrow(`the lock ${file} is damaged`);
    expect(() => isLocked(file)).toThrow(`remove it: rm -r ${file}`);
    expect(() => takeLock(home.file('no/such.lock'))).toThrow('cannot open the lock');
  });

  it('is held by one, seen by all, and free again once let go', async () => {
    await using home = await directory();
    const file = home.file('lock');
    expect(isLocked(file)).toBe(false);
    const lock = takeLock(file)!;
    expect(isLocked(file)).toBe(true);
    expect(takeLock(file)).toBeUndefined();
    lock[Symbol.dispose]();
    expect(isLocked(file)).toBe(false);
    takeLock(file)![Symbol.dispose]();
  });

  it('is not left behind by a process that is killed', async () => {
    await using home = await directory();
    const file = home.file('lock');
    const script = `
      import { takeLock } from ${JSON.stringify(path.resolve('src/store/lock.ts'))};
      globalThis.lock = takeLock(${JSON.stringify(file)});
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(isLocked(file)).toBe(true);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    expect(isLocked(file)).toBe(false);
    takeLock(file)![Symbol.dispose]();
  });
});
