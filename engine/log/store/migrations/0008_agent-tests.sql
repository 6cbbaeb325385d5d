-- What agents are tested by, and how that went: runs of kind practice, judged as they are read.

CREATE TABLE agent_examples (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Its firing, entity, projects and as_of are those of the example.
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  verdict TEXT,                     -- expected; no_op: nothing to report; null: a finding of any verdict
  mentions TEXT NOT NULL CHECK (json_valid(mentions)), -- JSON list: words, and patterns between slashes
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  UNIQUE (agent, name)
);

CREATE TABLE agent_tests (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,      -- order of making
  agent TEXT NOT NULL,
  definition_hash TEXT NOT NULL,    -- of what was tested, which need not be what is saved
  tried TEXT NOT NULL CHECK (json_valid(tried)), -- JSON: what was other than saved
  -- JSON list: each example as it was then, with its run. Examples that are removed stay in old tests.
  examples TEXT NOT NULL CHECK (json_valid(examples)),
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL
);
CREATE INDEX agent_tests_agent ON agent_tests (agent, seq);
