/** The tables of a user's records; a migration is never edited once released. */

export const RECORD_MIGRATIONS = [
  `
  -- Who may come in over HTTP. Of a token only its hash is kept.
  CREATE TABLE token (
    name       TEXT PRIMARY KEY,
    role       TEXT NOT NULL,
    hash       BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER
  ) STRICT, WITHOUT ROWID;

  -- The repositories that bosun serve may work on, by the name that addresses have for them.
  CREATE TABLE repository (
    name      TEXT PRIMARY KEY,
    directory TEXT NOT NULL UNIQUE,
    added_ms  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Workers, templates and work items: what people and programs say of them, as JSON.
  CREATE TABLE record (
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;

  -- Executions whose workspace somebody has cleaned up.
  CREATE TABLE cleaned (
    execution TEXT PRIMARY KEY,
    at_ms     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Browsers that were let in. Of what they come with only a hash is kept.
  CREATE TABLE session (
    hash       BLOB PRIMARY KEY,
    subject    TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
];
