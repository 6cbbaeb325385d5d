-- Ask: conversations of a credential, what was asked in them, and every step of each answer.

CREATE TABLE ask_sessions (
  owner TEXT NOT NULL,              -- credential that made it
  id TEXT NOT NULL,                 -- made by the client: hexadecimal
  title TEXT NOT NULL,
  state TEXT,                       -- whatever a client keeps with it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;
CREATE INDEX ask_sessions_age ON ask_sessions (updated_at);

CREATE TABLE ask_turns (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,      -- order of asking
  owner TEXT NOT NULL,
  session TEXT,                     -- as its caller names it; null: none
  kept INTEGER NOT NULL,            -- 1: a turn of a row of ask_sessions
  mode TEXT NOT NULL,
  step TEXT,
  question TEXT NOT NULL,
  answer TEXT NOT NULL DEFAULT '',
  error TEXT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  rounds INTEGER NOT NULL DEFAULT 0,
  tool_calls INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  uncosted_calls INTEGER NOT NULL DEFAULT 0,
  reserved_usd REAL NOT NULL DEFAULT 0, -- of the call under way
  bytes INTEGER NOT NULL,           -- of the question and the steps
  asked_at INTEGER NOT NULL,
  finished_at INTEGER,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX ask_turns_session ON ask_turns (owner, session, seq);
CREATE INDEX ask_turns_running ON ask_turns (state) WHERE state = 'running';
CREATE INDEX ask_turns_age ON ask_turns (finished_at);

CREATE TABLE ask_steps (
  turn_id TEXT NOT NULL REFERENCES ask_turns (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  round INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER,                       -- null: not completed
  data TEXT NOT NULL CHECK (json_valid(data)),
  PRIMARY KEY (turn_id, n)
) WITHOUT ROWID;
