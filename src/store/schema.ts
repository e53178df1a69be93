/**
 * The tables as the first migration makes them. Times are ms since the epoch; a `body` is text where its `encoding` is
 * `json`, else bytes (`v8`: structured serialisation). A row that belongs to an agent names it in `agent`.
 */
export const FIRST_SCHEMA = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY NOT NULL,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
  agent TEXT PRIMARY KEY NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0,
  version TEXT,
  intent TEXT,                          -- null: nobody has wanted anything yet
  admission TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  wanted_by TEXT,
  reason TEXT,
  wanted_at INTEGER,
  paused_since INTEGER,
  paused_by TEXT,
  paused_reason TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (agent, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE instances (                -- those that have begun and not ended
  instance TEXT PRIMARY KEY NOT NULL,
  agent TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deaths (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  cause TEXT NOT NULL,
  record TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX deaths_by_agent ON deaths (agent, number);

CREATE TABLE facts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  level TEXT NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT,
  instance TEXT,
  epoch INTEGER,
  message TEXT NOT NULL,
  data TEXT NOT NULL                    -- JSON
) STRICT;

CREATE TABLE dead_letters (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  body ANY,
  encoding TEXT NOT NULL,
  sender TEXT,
  delivery_count INTEGER NOT NULL,
  death_id TEXT,
  message_id TEXT,                      -- a replay keeps it
  replayed_at INTEGER
) STRICT;
CREATE INDEX dead_letters_by_agent ON dead_letters (agent, id);

CREATE TABLE mailboxes (                -- durable messages that wait or run, in order of acceptance
  number INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  message_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  body ANY,
  encoding TEXT NOT NULL,
  sender TEXT,
  sender_seq INTEGER,
  accepted_at INTEGER NOT NULL,
  expires_at INTEGER,
  delivery_count INTEGER NOT NULL,
  UNIQUE (agent, message_id)
) STRICT;

CREATE TABLE handled_messages (         -- ids that were done, kept for some time so that none is done twice
  number INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  message_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (agent, message_id)
) STRICT;

CREATE TABLE effects (                  -- the n-th write or send of a message that is not done yet
  agent TEXT NOT NULL,
  message_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (agent, message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
  version INTEGER PRIMARY KEY AUTOINCREMENT, -- a new one with each write of a key
  agent TEXT NOT NULL,
  key TEXT NOT NULL,
  body ANY,
  encoding TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (agent, key)
) STRICT;

CREATE TABLE sessions (
  agent TEXT NOT NULL,
  session TEXT NOT NULL,
  length INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_entries (
  agent TEXT NOT NULL,
  session TEXT NOT NULL,
  position INTEGER NOT NULL,            -- from 0
  at INTEGER NOT NULL,
  body ANY,
  encoding TEXT NOT NULL,
  UNIQUE (agent, session, position)
) STRICT;

CREATE TABLE schedules (
  agent TEXT NOT NULL,
  id TEXT NOT NULL,
  origin TEXT NOT NULL,                 -- manifest or runtime
  spec TEXT NOT NULL,                   -- JSON
  last_due_at INTEGER,
  next_due_at INTEGER,
  last_fired_at INTEGER,
  last_outcome TEXT,
  last_detail TEXT,
  missed_count INTEGER NOT NULL,
  PRIMARY KEY (agent, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedule_runs (
  number INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  schedule TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  fired_at INTEGER,
  outcome TEXT NOT NULL,
  detail TEXT,
  UNIQUE (agent, schedule, due_at)
) STRICT;
CREATE INDEX schedule_runs_pending ON schedule_runs (agent) WHERE outcome = 'pending';

CREATE TABLE channel_bindings (
  channel TEXT NOT NULL,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (channel, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE catalog (
  name TEXT PRIMARY KEY NOT NULL,
  version TEXT NOT NULL,
  source TEXT NOT NULL,
  installed_at INTEGER NOT NULL,
  digest TEXT NOT NULL                  -- of the files
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,            -- the token itself is nowhere
  access TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
`
