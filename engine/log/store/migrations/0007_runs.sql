-- Agents at work: runs with every step, and who took over from whom.

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,      -- order of making
  agent TEXT NOT NULL,
  definition TEXT NOT NULL,         -- JSON: the agent as it was when the run was made
  definition_hash TEXT NOT NULL,    -- of the definition
  woken_by TEXT NOT NULL,
  trigger_name TEXT,
  firing_id INTEGER,
  dispatch_id TEXT,
  label TEXT NOT NULL,              -- of the entity
  entity TEXT NOT NULL,
  parent_run_id TEXT,
  root_run_id TEXT NOT NULL,        -- first of the chain: one result of a project
  depth INTEGER NOT NULL,           -- handoffs before it
  rerun_of TEXT,
  practice INTEGER NOT NULL,
  tape INTEGER NOT NULL DEFAULT 0,  -- answered by the tape of the run it repeats
  made_at INTEGER NOT NULL,
  as_of INTEGER,                    -- what it reads had been ingested by then; null: not started
  started_at INTEGER,
  finished_at INTEGER,
  deadline_at INTEGER,
  wakes INTEGER NOT NULL DEFAULT 1, -- firings that came while it waited count here too
  rounds INTEGER NOT NULL DEFAULT 0,
  tool_calls INTEGER NOT NULL DEFAULT 0,
  provider TEXT,
  model TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_creation_input_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_input_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  uncosted_calls INTEGER NOT NULL DEFAULT 0,
  reserved_usd REAL NOT NULL DEFAULT 0, -- of the call under way; of one that was interrupted it stays
  outcome TEXT,                     -- finding or no_op
  verdict TEXT,
  headline TEXT,
  next_step TEXT,
  note TEXT,                        -- the finding, or what there was of it
  claims TEXT,                      -- JSON list, checked
  verified_ok INTEGER,
  verified_total INTEGER,
  event_id TEXT,                    -- the finding on the timeline
  error TEXT,
  results TEXT NOT NULL DEFAULT '[]',
  servers TEXT NOT NULL DEFAULT '[]', -- JSON: MCP servers it used, or skipped and why
  delivery TEXT,                    -- write-back: pending, ok, http <status>, failed
  delivery_error TEXT,
  delivery_tries INTEGER NOT NULL DEFAULT 0,
  delivery_due_at INTEGER,
  handled_at INTEGER,
  handled_by TEXT,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX runs_agent ON runs (agent, seq);
CREATE INDEX runs_open ON runs (state, seq) WHERE state IN ('queued', 'running');
CREATE INDEX runs_entity ON runs (label, entity, seq);
CREATE INDEX runs_root ON runs (root_run_id, seq);
CREATE INDEX runs_event ON runs (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX runs_firing ON runs (firing_id) WHERE firing_id IS NOT NULL;
CREATE INDEX runs_finished ON runs (finished_at);
CREATE INDEX runs_reserved ON runs (agent, reserved_usd) WHERE reserved_usd > 0;
CREATE INDEX model_usage_agent ON model_usage (agent, at);
CREATE INDEX runs_write_back ON runs (delivery_due_at) WHERE delivery = 'pending';

-- Projects a run is for: those whose wiring started it.
CREATE TABLE run_projects (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  PRIMARY KEY (run_id, project)
) WITHOUT ROWID;
CREATE INDEX run_projects_project ON run_projects (project, run_id);

-- The tape: what was said, asked and answered, in order. A step is written before it is taken where
-- taking it twice would matter, and completed after.
CREATE TABLE run_steps (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  round INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER,                       -- null: not completed
  data TEXT NOT NULL CHECK (json_valid(data)),
  PRIMARY KEY (run_id, n)
) WITHOUT ROWID;

CREATE TABLE handoffs (
  id TEXT PRIMARY KEY,
  from_run TEXT NOT NULL,
  from_agent TEXT NOT NULL,
  to_agent TEXT NOT NULL,
  verdict TEXT NOT NULL,
  label TEXT NOT NULL,
  entity TEXT NOT NULL,
  projects TEXT NOT NULL,           -- JSON list
  at INTEGER NOT NULL,
  to_run TEXT,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX handoffs_from ON handoffs (from_run);
CREATE INDEX handoffs_to ON handoffs (to_run);
CREATE INDEX handoffs_pair ON handoffs (from_agent, to_agent, label, entity, at);

-- Findings were kept beside runs of outside agents that had no row: they are those runs now.
INSERT INTO runs (id, seq, agent, definition, definition_hash, woken_by, label, entity, root_run_id, depth, practice,
  made_at, as_of, started_at, finished_at, outcome, verdict, headline, next_step, note, event_id,
  handled_at, handled_by, snapshot)
SELECT run_id, row_number() OVER (ORDER BY at, run_id), agent, '{}', '', 'external', label, entity, run_id, 0, 0,
  at, at, at, at, 'finding', verdict, headline, next_step, finding, event_id, handled_at, handled_by,
  json('{"value":"succeeded","context":{"rounds":0,"max_rounds":6,"resumes":0},"status":"done","v":1}')
FROM findings;
INSERT INTO run_projects (run_id, project) SELECT run_id, project FROM findings;
DROP TABLE findings;
