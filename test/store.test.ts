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
