-- Changes that were proposed, and wait for a person.
CREATE TABLE proposals (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,      -- order of making
  made_at INTEGER NOT NULL,
  proposer TEXT NOT NULL,           -- name of who proposed it
  proposer_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  why TEXT NOT NULL,
  summary TEXT NOT NULL,            -- of the plan, in a line
  base INTEGER NOT NULL,            -- version of the instance it was planned against
  operations TEXT NOT NULL,         -- JSON, sealed: secrets may be in it
  plan TEXT NOT NULL CHECK (json_valid(plan)),          -- secrets masked
  triggers TEXT NOT NULL CHECK (json_valid(triggers)),  -- JSON list: triggers as they would be
  decided_at INTEGER,
  decided_by TEXT,
  reason TEXT,                      -- why it was declined
  change_set INTEGER,               -- that approving it wrote
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX proposals_state ON proposals (state, seq);
CREATE INDEX proposals_open ON proposals (proposer_id) WHERE state = 'open';
