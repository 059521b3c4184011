/** The tables of the SQLite journal, one migration per version; a migration is never edited once released. */

export const MIGRATIONS = [
  `
  CREATE TABLE run (
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    number  INTEGER NOT NULL,
    created INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    view    TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX run_number ON run (name, number);

  CREATE TABLE event (
    run   TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    type  TEXT NOT NULL,
    task  TEXT,
    body  TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT, WITHOUT ROWID;

  -- What status shows: written with the events it follows from, so that it need not fold them.
  CREATE TABLE task (
    run        TEXT NOT NULL,
    id         TEXT NOT NULL,
    sort_order TEXT NOT NULL,
    state      TEXT NOT NULL,
    view       TEXT NOT NULL,
    PRIMARY KEY (run, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX task_order ON task (run, sort_order);

  CREATE TABLE request (
    id   INTEGER PRIMARY KEY,
    run  TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- Large values of events, each once in a run; written with the first event that refers to it.
  CREATE TABLE value (
    id   INTEGER PRIMARY KEY,
    run  TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX value_hash ON value (run, hash);
  `,
  `
  -- Runs that were taken out: their numbers are not used again. "left" is what is still to go, null once it is gone.
  CREATE TABLE pruned (
    run    TEXT PRIMARY KEY,
    name   TEXT NOT NULL,
    number INTEGER NOT NULL,
    left   TEXT
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The format of an event; what was written before there was a number is of format 1.
  ALTER TABLE event ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
  `,
  `
  -- Runs that have not ended, and those that wait for an engine, among any number of others.
  CREATE INDEX run_open ON run (created) WHERE instr(view, '"endedAtMs":') = 0 AND instr(view, '"pending":') = 0;
  CREATE INDEX run_pending ON run (created) WHERE instr(view, '"pending":') > 0;
  `,
  `
  -- What a run was begun with, so that a request that comes twice begins it once; "hash" is of the request.
  CREATE TABLE once (
    key  TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    run  TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- In which order the events of all runs were written: a row for each batch. A number is never used again.
  CREATE TABLE batch (
    n     INTEGER PRIMARY KEY AUTOINCREMENT,
    run   TEXT NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX batch_run ON batch (run);
  INSERT INTO batch (run, first, last) SELECT id, 1, seq FROM run ORDER BY rowid;
  `,
  `
  -- Which journal this is: another one may be at its place later, with other events under the same numbers.
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity (id) VALUES (lower(hex(randomblob(6))));
  `,
];
