-- Guided setup: of each project made by it how its plan came about, and what was tried since.
CREATE TABLE setups (
  id TEXT PRIMARY KEY,              -- of the project
  who TEXT NOT NULL,                -- svc, or own: the person's own agent
  named INTEGER NOT NULL,           -- 1: the person named the project
  instruction TEXT,                 -- what to change in the plan; null: it is planned from the goal
  plan TEXT CHECK (plan IS NULL OR json_valid(plan)), -- without secrets
  attempt INTEGER NOT NULL,         -- plannings that were asked for
  claimed INTEGER NOT NULL,         -- the one that was taken up last
  error TEXT,                       -- why the last one failed
  no_provider INTEGER NOT NULL DEFAULT 0,
  own_key TEXT,                     -- key of the person's own agent
  practised_at INTEGER,
  practice_run TEXT,
  practice_dispatch TEXT,
  practice_found TEXT,              -- run whose finding answers the practice firing
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX setups_state ON setups (state);

-- Sub-steps of the planning that was asked for last.
CREATE TABLE setup_steps (
  setup TEXT NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  text TEXT NOT NULL,
  state TEXT NOT NULL,              -- running, done or stopped
  at INTEGER NOT NULL,
  PRIMARY KEY (setup, n)
) WITHOUT ROWID;
