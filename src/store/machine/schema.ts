/** The tables of the database that all engines of a user share; a migration is never edited once released. */

export const MACHINE_MIGRATIONS = [
  `
  -- Agents at work, and those that wait to begin. An engine is known by the name of its lock: see engines.ts.
  CREATE TABLE slot (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    engine     TEXT NOT NULL,
    repository TEXT NOT NULL,
    run        TEXT NOT NULL,
    most       INTEGER NOT NULL,
    held       INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- Keys, by a hash with the salt below, whose provider wants no requests for a while.
  CREATE TABLE pause (
    key      TEXT PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    why      TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE salt (bytes BLOB NOT NULL) STRICT;
  INSERT INTO salt VALUES (randomblob(32));

  -- What was spent, by day and repository.
  CREATE TABLE spent (
    day        TEXT NOT NULL,
    repository TEXT NOT NULL,
    usd        REAL NOT NULL,
    PRIMARY KEY (day, repository)
  ) STRICT, WITHOUT ROWID;

  -- Requests under way, at their estimates. Without an engine where that died: then it counts as spent.
  CREATE TABLE reserved (
    repository TEXT NOT NULL,
    run        TEXT NOT NULL,
    note       TEXT NOT NULL,
    engine     TEXT,
    day        TEXT NOT NULL,
    usd        REAL NOT NULL,
    PRIMARY KEY (repository, run, note)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reserved_day ON reserved (day);

  -- Limits that a person raised, each for one day ('2026-11-18') or month ('2026-11') alone; '' is every repository.
  CREATE TABLE raised (
    repository TEXT NOT NULL,
    period     TEXT NOT NULL,
    usd        REAL NOT NULL,
    PRIMARY KEY (repository, period)
  ) STRICT, WITHOUT ROWID;
  `,
];
