/** The journal in one SQLite file: WAL, synchronous FULL. What it has accepted survives a crash of the machine. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Breather } from '../base/breather.ts';
import { BosunError } from '../contract/errors.ts';
import { EVENT_FORMAT, type Event, type Recorded, type ValueRef } from '../contract/event.ts';
import type { Json } from '../contract/workflow.ts';
import type { RunView, TaskState, TaskView } from '../contract/run.ts';
import { bellOf, claim, driverOf, ring, type Claim, type Driver } from './claims.ts';
import type { eventProblem } from '../contract/check-event.ts';
import { MODEL_USES, modelUseIn, type ModelUses } from './model-uses.ts';
import { checkedId, checkedLeft, checkedView, checkTask } from './checked-names.ts';
import { JournalLooks, type LookTimes } from './journal-looks.ts';
import { JournalDatabase } from './journal-database.ts';
import { damaged, gone, otherRequest, translated } from './sqlite-errors.ts';
import { whole } from './values.ts';
import { followQuery } from './follow.ts';
import type {
  Batch,
  Cursor,
  FirstBatch,
  Followed,
  FollowOptions,
  Left,
  Once,
  Queueing,
  ReadOptions,
  Request,
  Room,
  RunsOptions,
  Store,
} from './store.ts';
import { familyOf, IN_FAMILY } from './task-family.ts';

/** The newest ones: nobody has more at work. */
const OPEN_RUNS_MAX = 1000;
/** What a page of events may hold before it ends early: so much is read, parsed and checked in one turn. */
const PAGE_BYTES_MAX = 1024 * 1024;

export function openSqliteStore(file: string, options: { readOnly?: boolean } = {}): Store {
  return translated(file, () => new SqliteStore(file, options.readOnly ?? false));
}

type Row = [seq: number, atMs: number, body: string, format: number];

class SqliteStore implements Store {
  readonly #db: JournalDatabase;
  /** Whoever reads page after page waits for nothing else. */
  readonly #breather = new Breather();
  #problem: typeof eventProblem | undefined;

  constructor(file: string, readOnly: boolean) {
    this.#db = new JournalDatabase(file, readOnly);
  }

  isCurrent(): boolean {
    return this.#db.isCurrent();
  }

  async create(
    name: string,
    lastNumber: number,
    first: FirstBatch,
    once?: Once,
  ): Promise<{ id: string; claim: Claim }> {
    using undo = new DisposableStack();
    const id = this.#db.transaction(() => {
      const begun = once && this.#begunWith(once.key);
      if (begun) throw new BosunError('busy', `run ${begun.run} was started with the same key just now`);
      const number = this.#lastNumber(name, lastNumber) + 1;
      const id = `${name}-${number}`;
      const own = claim(this.#directoryOf(id));
      if (!own)
        throw new BosunError('busy', `another bosun holds the lock of run ${id}, which is not there yet`);
      undo.use(own);
      this.#begin(id, name, number, first);
      if (once) this.#db.run('INSERT INTO once (key, hash, run) VALUES (?, ?, ?)', once.key, once.hash, id);
      return id;
    });
    return { id, claim: undo.move() };
  }

  async begunWith(key: string): Promise<{ run: string; hash: string } | undefined> {
    return this.#begunWith(key);
  }

  #begunWith(key: string): { run: string; hash: string } | undefined {
    const row = this.#db.get('SELECT run, hash FROM once WHERE key = ?', key);
    return row && { run: String(row.run), hash: String(row.hash) };
  }

  async enqueue(runs: readonly Queueing[]): Promise<string[]> {
    return this.#db.transaction(() => {
      const last = new Map<string, number>();
      return runs.map(({ name, lastNumber, first, once }) => {
        const before = once && this.#askedBefore(once);
        if (before !== undefined) return before;
        const number = (last.get(name) ?? this.#lastNumber(name, lastNumber)) + 1;
        last.set(name, number);
        const id = `${name}-${number}`;
        this.#begin(id, name, number, first);
        if (once) this.#db.run('INSERT INTO once (key, hash, run) VALUES (?, ?, ?)', once.key, once.hash, id);
        return id;
      });
    });
  }

  #askedBefore({ key, hash }: Once): string | undefined {
    const begun = this.#begunWith(key);
    if (begun && begun.hash !== hash) throw otherRequest(begun.run);
    return begun?.run;
  }

  #lastNumber(name: string, lastNumber: number): number {
    const all = ['run', 'pruned'].map((table) =>
      Number(this.#db.get(`SELECT max(number) AS number FROM ${table} WHERE name = ?`, name)?.number ?? 0),
    );
    return Math.max(...all, lastNumber);
  }

  #begin(id: string, name: string, number: number, first: FirstBatch): void {
    const { atMs, batch } = first(id);
    const sql = 'INSERT INTO run (id, name, number, created, seq, view) VALUES (?, ?, ?, ?, 0, ?)';
    this.#db.run(sql, id, name, number, atMs, '{}');
    this.#write(id, 0, batch);
  }

  async append(run: string, expectedSeq: number, batch: Batch): Promise<number> {
    return this.#db.transaction(() => {
      const row = this.#db.get('SELECT seq FROM run WHERE id = ?', run);
      if (row?.seq !== expectedSeq) {
        const message = `the journal of run ${run} was written by another engine (at ${String(row?.seq)}, expected ${expectedSeq}); this one stops. See bosun status ${run}`;
        throw new BosunError('busy', message);
      }
      return this.#write(run, expectedSeq, batch);
    });
  }

  #write(run: string, afterSeq: number, batch: Batch): number {
    let seq = afterSeq;
    for (const { atMs, event } of batch.entries) {
      const task = 'task' in event ? event.task : null;
      const sql =
        'INSERT INTO event (run, seq, at_ms, type, task, body, format) VALUES (?, ?, ?, ?, ?, ?, ?)';
      this.#db.run(sql, run, ++seq, atMs, event.type, task, JSON.stringify(event), EVENT_FORMAT);
    }
    for (const { hash, text } of batch.values ?? [])
      this.#db.run('INSERT OR IGNORE INTO value (run, hash, body) VALUES (?, ?, ?)', run, hash, text);
    for (const task of batch.tasks) {
      const sql =
        'INSERT INTO task (run, id, sort_order, state, view) VALUES (?, ?, ?, ?, ?) ' +
        'ON CONFLICT DO UPDATE SET sort_order = excluded.sort_order, state = excluded.state, view = excluded.view';
      this.#db.run(sql, run, task.id, task.order, task.state, JSON.stringify(task));
    }
    for (const id of batch.handled) this.#db.run('DELETE FROM request WHERE id = ?', id);
    // Nobody will take them any more, and a run that is gone on with must not be told of them. What was asked for is answered.
    if (batch.run.endedAtMs !== undefined)
      this.#db.run(`DELETE FROM request WHERE run = ? AND substr(body, 1, 13) <> '{"do":"spawn"'`, run);
    if (seq > afterSeq)
      this.#db.run('INSERT INTO batch (run, first, last) VALUES (?, ?, ?)', run, afterSeq + 1, seq);
    const view: RunView = { ...batch.run, id: run, lastSeq: seq };
    this.#db.run('UPDATE run SET seq = ?, view = ? WHERE id = ?', seq, JSON.stringify(view), run);
    return seq;
  }

  async read(run: string, options: ReadOptions = {}): Promise<Recorded[]> {
    const where = ['run = ?', 'seq > ?'];
    const values: (string | number)[] = [run, options.afterSeq ?? 0];
    if (options.withoutOutput) where.push("type <> 'attempt.output'");
    if (options.types) {
      where.push(`type IN (${options.types.map(() => '?').join(', ')})`);
      values.push(...options.types);
    }
    if (options.task !== undefined) {
      where.push('task = ?');
      values.push(options.task);
    }
    if (options.around !== undefined) {
      where.push(IN_FAMILY);
      values.push(...familyOf(options.around));
    }
    const sql = `SELECT seq, at_ms, body, ${this.#db.format} FROM event WHERE ${where.join(' AND ')} ORDER BY seq LIMIT ?`;
    await this.#breather.breathe();
    // Whoever asks for no events, such as status, need not load it.
    this.#problem ??= (await import('../contract/check-event.ts')).eventProblem;
    return translated(this.#db.file, () => {
      const page: Recorded[] = [];
      let bytes = 0;
      const read = (ref: ValueRef): Json => {
        bytes += ref.bytes;
        return this.value(run, ref);
      };
      // Thousands of rows stand between a resume and its first task: lists take half the time that objects do.
      const statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      for (const row of statement.iterate(...values, options.limit ?? -1) as unknown as Iterable<Row>) {
        bytes += row[2].length;
        page.push(this.#recorded(run, row, read, options.valueBytesMax));
        if (options.limit !== undefined && bytes > PAGE_BYTES_MAX) break;
      }
      return page;
    });
  }

  async follow(options: FollowOptions): Promise<Followed[]> {
    const { sql, values } = followQuery(options);
    await this.#breather.breathe();
    this.#problem ??= (await import('../contract/check-event.ts')).eventProblem;
    return translated(this.#db.file, () => {
      const page: Followed[] = [];
      let bytes = 0;
      const statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      for (const row of statement.iterate(...values) as unknown as Iterable<[number, string, ...Row]>) {
        const [batch, run, ...rest] = row;
        const read = (ref: ValueRef): Json => {
          bytes += ref.bytes;
          return this.value(run, ref);
        };
        bytes += rest[2].length;
        page.push({ recorded: this.#recorded(run, rest, read), cursor: { batch, seq: rest[0] } });
        if (bytes > PAGE_BYTES_MAX) break;
      }
      return page;
    });
  }

  async head(): Promise<Cursor> {
    const row = this.#db.get('SELECT n, last FROM batch ORDER BY n DESC LIMIT 1');
    return { batch: Number(row?.n ?? 0), seq: Number(row?.last ?? 0) };
  }

  async identity(): Promise<string> {
    return this.#db.hasIdentity ? String(this.#db.get('SELECT id FROM identity')?.id) : '0';
  }

  #recorded(
    run: string,
    [seq, atMs, body, format]: Row,
    read: (ref: ValueRef) => Json,
    valueBytesMax?: number,
  ): Recorded {
    const event = whole(this.#event(run, seq, body, format), read, valueBytesMax);
    return format === EVENT_FORMAT ? { run, seq, atMs, event } : { run, seq, atMs, event, format };
  }

  /** What cannot be understood is said, and where it is: to guess would be to do other work than was decided. */
  #event(run: string, seq: number, body: string, format: number): Event {
    if (format > EVENT_FORMAT) {
      const message = `event ${seq} of run ${run} in ${this.#db.file} was written by a newer bosun (format ${format}, this one knows ${EVENT_FORMAT}); update bosun to use it`;
      throw new BosunError('journal', message);
    }
    const event = this.#db.parse(body);
    const problem = this.#problem!(event, format);
    if (problem !== undefined)
      throw damaged(this.#db.file, `event ${seq} of run ${run} is malformed: ${problem}`);
    checkTask(this.#db.file, run, seq, event as Event);
    return event as Event;
  }

  value(run: string, { hash }: ValueRef): Json {
    const row = this.#db.get('SELECT body FROM value WHERE run = ? AND hash = ?', run, hash);
    if (!row) throw damaged(this.#db.file, `a value of run ${run} is missing`);
    return this.#db.parse(row.body) as Json;
  }

  async outputBytes(run: string): Promise<number> {
    const sql =
      "SELECT sum(octet_length(body)) AS bytes FROM event WHERE run = ? AND type IN ('attempt.output', 'attempt.agent')";
    return Number(this.#db.get(sql, run)?.bytes ?? 0);
  }

  async modelUses(run: string): Promise<ModelUses[]> {
    return this.#db.all(MODEL_USES, run).map(modelUseIn);
  }

  async run(id: string): Promise<RunView | undefined> {
    const row = this.#db.get('SELECT view FROM run WHERE id = ?', id);
    return row && checkedView(this.#db.file, this.#db.parse(row.view));
  }

  async runs(limit: number, { before, name, states }: RunsOptions = {}): Promise<RunView[]> {
    const among = states?.map(() => '?').join(', ');
    const wheres = [
      ...(before === undefined ? [] : ['rowid < (SELECT rowid FROM run WHERE id = ?)']),
      ...(name === undefined ? [] : ['name = ?']),
      ...(among === undefined ? [] : [`view ->> 'state' IN (${among})`]),
    ];
    const where = wheres.length > 0 ? `WHERE ${wheres.join(' AND ')}` : '';
    const values = [before, name, ...(states ?? [])].filter((value) => value !== undefined);
    const sql = `SELECT view FROM run ${where} ORDER BY rowid DESC LIMIT ?`;
    const rows = this.#db.all(sql, ...values, limit);
    return rows.map((row) => checkedView(this.#db.file, this.#db.parse(row.view)));
  }

  async openRuns(): Promise<RunView[]> {
    const rows = this.#db.all(
      `SELECT view FROM run WHERE instr(view, '"endedAtMs":') = 0 AND instr(view, '"pending":') = 0 ORDER BY created DESC, rowid DESC LIMIT ?`,
      OPEN_RUNS_MAX,
    );
    return rows.map((row) => checkedView(this.#db.file, this.#db.parse(row.view)));
  }

  async pendingRuns(limit: number): Promise<RunView[]> {
    const rows = this.#db.all(
      `SELECT view FROM run WHERE instr(view, '"pending":') > 0 ORDER BY created, rowid LIMIT ?`,
      limit,
    );
    return rows.map((row) => checkedView(this.#db.file, this.#db.parse(row.view)));
  }

  async tasks(
    run: string,
    { states, limit = -1, after }: { states?: readonly TaskState[]; limit?: number; after?: string } = {},
  ): Promise<TaskView[]> {
    const among = states ? `AND state IN (${states.map(() => '?').join(', ')})` : '';
    const behind =
      after === undefined ? '' : 'AND sort_order > (SELECT sort_order FROM task WHERE run = ? AND id = ?)';
    const sql = `SELECT view FROM task WHERE run = ? ${among} ${behind} ORDER BY sort_order LIMIT ?`;
    const place = after === undefined ? [] : [run, after];
    const rows = this.#db.all(sql, run, ...(states ?? []), ...place, limit);
    return rows.map((row) => this.#db.parse(row.view) as TaskView);
  }

  async request(run: string, request: Request, room?: Room): Promise<void> {
    if (room?.afterSeq !== undefined)
      this.#problem ??= (await import('../contract/check-event.ts')).eventProblem;
    this.#db.transaction(() => {
      if (room) {
        const waiting = this.#requests(run).map((each) => each.request);
        room.require(waiting, room.afterSeq === undefined ? [] : this.#eventsAfter(run, room.afterSeq));
      }
      this.#db.run('INSERT INTO request (run, body) VALUES (?, ?)', run, JSON.stringify(request));
    });
    ring(this.#directoryOf(run));
  }

  #eventsAfter(run: string, afterSeq: number): Event[] {
    const sql = `SELECT seq, body, ${this.#db.format} AS format FROM event WHERE run = ? AND seq > ? AND type <> 'attempt.output'`;
    return this.#db
      .all(sql, run, afterSeq)
      .map((row) => this.#event(run, Number(row.seq), String(row.body), Number(row.format)));
  }

  async withdraw(run: string, key: string): Promise<boolean> {
    return this.#db.transaction(() => {
      const ids = this.#requests(run).flatMap(({ id, request }) =>
        'key' in request && request.key === key ? [id] : [],
      );
      for (const id of ids) this.#db.run('DELETE FROM request WHERE id = ?', id);
      return ids.length > 0;
    });
  }

  async requests(run: string): Promise<{ id: number; request: Request }[]> {
    return this.#requests(run);
  }

  #requests(run: string): { id: number; request: Request }[] {
    const rows = this.#db.all('SELECT id, body FROM request WHERE run = ? ORDER BY id', run);
    return rows.map((row) => ({ id: Number(row.id), request: this.#db.parse(row.body) as Request }));
  }

  async bytes(run: string): Promise<number> {
    const sum = (table: string): number =>
      Number(this.#db.get(`SELECT sum(octet_length(body)) AS n FROM ${table} WHERE run = ?`, run)?.n ?? 0);
    return sum('event') + sum('value');
  }

  async prune(run: string, left: Left): Promise<void> {
    this.#db.transaction(() => {
      const sql =
        'INSERT OR REPLACE INTO pruned (run, name, number, left) SELECT id, name, number, ? FROM run WHERE id = ?';
      this.#db.run(sql, JSON.stringify(left), run);
      for (const table of ['event', 'task', 'request', 'value', 'once', 'batch'])
        this.#db.run(`DELETE FROM ${table} WHERE run = ?`, run);
      this.#db.run('DELETE FROM run WHERE id = ?', run);
    });
  }

  async pruned(): Promise<{ run: string; left: Left }[]> {
    const rows = this.#db.all('SELECT run, left FROM pruned WHERE left IS NOT NULL');
    return rows.map((row) => {
      const run = checkedId(this.#db.file, row.run);
      return { run, left: checkedLeft(this.#db.file, run, this.#db.parse(row.left)) };
    });
  }

  async forget(run: string): Promise<void> {
    this.#db.transaction(() => this.#db.run('UPDATE pruned SET left = NULL WHERE run = ?', run));
  }

  compact(): void {
    this.#db.compact();
  }

  async claim(run: string): Promise<Claim | undefined> {
    return claim(this.#directoryOf(run));
  }

  async driver(run: string): Promise<Driver | undefined> {
    return driverOf(this.#directoryOf(run));
  }

  async *asked(run: string, signal: AbortSignal, times: LookTimes = {}): AsyncGenerator<void> {
    using looks = new JournalLooks(bellOf(this.#directoryOf(run)), signal, times);
    while (!signal.aborted) {
      this.#assertThere();
      yield;
      await looks.next();
    }
  }

  async *changes(signal: AbortSignal, times: LookTimes = {}): AsyncGenerator<void> {
    using looks = new JournalLooks(this.#db.file, signal, times);
    let seen: unknown;
    while (!signal.aborted) {
      const version = this.#db.get('PRAGMA data_version')?.data_version; // some microseconds
      if (version !== seen || looks.isDue) {
        looks.isDue = false;
        this.#assertThere();
        yield;
      }
      seen = version;
      await looks.next();
    }
  }

  /** What is still written goes nowhere: SQLite does not notice. */
  #assertThere(): void {
    if (!existsSync(this.#db.file)) throw gone(this.#db.file);
  }

  #directoryOf(run: string): string {
    return path.join(path.dirname(this.#db.file), 'runs', checkedId(this.#db.file, run));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db[Symbol.dispose]();
  }
}
