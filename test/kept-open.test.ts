/** What the server keeps open between requests: never another file than the one of that name, and not for ever. */
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openJournal, prepareJournal } from '../src/run/journal.ts';
import { KeptOpen, lease, type Keepable } from '../src/store/kept-open.ts';
import { isLocked, takeLock } from '../src/store/lock.ts';
import { makeRepository } from './fixtures/repository.ts';

class Thing implements Keepable {
  isClosed = false;
  current = true;

  isCurrent(): boolean {
    return this.current;
  }

  close(): void {
    this.isClosed = true;
  }
}

const open = (): Thing => new Thing();

describe('what is kept open', () => {
  it('is the same for all who use it at once or one after another', () => {
    using kept = new KeptOpen();
    kept.within(() => {
      const first = lease('a', open);
      const second = lease('a', open);
      first[Symbol.dispose]();
      first[Symbol.dispose](); // gives back once
      second[Symbol.dispose]();
      const third = lease('a', open);
      expect([second.value, third.value]).toEqual([first.value, first.value]);
      expect(lease('b', open).value).not.toBe(first.value);
      expect(first.value.isClosed).toBe(false);
    });
  });

  it('is closed when its last user gives it back, where it is no longer what its file is', () => {
    using kept = new KeptOpen();
    kept.within(() => {
      const old = lease('a', open);
      old.value.current = false;
      const fresh = lease('a', open);
      expect(fresh.value).not.toBe(old.value);
      expect(old.value.isClosed).toBe(false);
      old[Symbol.dispose]();
      expect(old.value.isClosed).toBe(true);
    });
  });

  it('is closed after a while without use, and with what keeps it', async () => {
    const kept = new KeptOpen({ idleMs: 20 });
    const { used, unused } = kept.within(() => ({ used: lease('a', open), unused: lease('b', open) }));
    unused[Symbol.dispose]();
    await expect.poll(() => unused.value.isClosed).toBe(true);
    expect(used.value.isClosed).toBe(false);
    kept[Symbol.dispose]();
    expect(used.value.isClosed).toBe(false);
    used[Symbol.dispose]();
    expect(used.value.isClosed).toBe(true);
    const late = kept.within(() => lease('a', open));
    late[Symbol.dispose]();
    expect(late.value.isClosed).toBe(true);
  });

  it('is never more than so much: what was not used for longest goes first', () => {
    using kept = new KeptOpen({ openMax: 2 });
    const things = ['a', 'b', 'c'].map((key) =>
      kept.within(() => {
        using leased = lease(key, open);
        return leased.value;
      }),
    );
    expect(things.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
    expect(kept.count).toBe(2);
  });

  it('is opened and closed by whoever has no such keeper', () => {
    const leased = lease('a', open);
    leased[Symbol.dispose]();
    expect(leased.value.isClosed).toBe(true);
  });
});

describe('a lock that is looked at again and again', () => {
  it('is seen as it is, also where its file goes and another comes', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-look-'));
    const file = path.join(directory, 'a.lock');
    using kept = new KeptOpen();
    const look = (): boolean => kept.within(() => isLocked(file));
    expect(look()).toBe(false);
    for (const isRemoved of [false, true, true]) {
      const lock = takeLock(file)!;
      expect([look(), look()]).toEqual([true, true]);
      if (isRemoved) await rm(file);
      lock[Symbol.dispose]();
      expect([look(), look()]).toEqual([false, false]);
    }
    expect(takeLock(file)).toBeDefined(); // whoever only looks keeps nobody out
    await rm(directory, { recursive: true });
  });
});

describe('a journal that is kept open', () => {
  it('is opened anew where it was replaced, and gone where it is gone', async () => {
    await using repository = await makeRepository({ files: { 'a.txt': 'a' } });
    using kept = new KeptOpen();
    const look = (): Promise<unknown> =>
      kept.within(async () => {
        await using journal = await openJournal(repository.path);
        return journal.store;
      });
    await prepareJournal(repository.path);
    const first = await look();
    expect(await look()).toBe(first);
    const file = path.join(repository.path, '.git', 'bosun', 'journal.db');
    await rename(file, `${file}.aside`);
    await expect(look()).rejects.toMatchObject({ code: 'not-found' });
    await prepareJournal(repository.path);
    expect(await look()).not.toBe(first);
    await rm(path.join(repository.path, '.git'), { recursive: true });
    await expect(look()).rejects.toMatchObject({ code: 'no-repository' });
  });

  it('is refused as soon as a newer bosun has brought it up to date', async () => {
    await using repository = await makeRepository({ files: { 'a.txt': 'a' } });
    using kept = new KeptOpen();
    await prepareJournal(repository.path);
    const look = async (): Promise<void> => {
      await using journal = await openJournal(repository.path);
      await journal.store.runs(1);
    };
    await kept.within(look);
    const db = new DatabaseSync(path.join(repository.path, '.git', 'bosun', 'journal.db'));
    db.exec('PRAGMA user_version = 99');
    db.close();
    await expect(kept.within(look)).rejects.toThrow(/newer bosun/);
  });
});
