-- Version 45: all migrations, for a new file. Written by npm run generate.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label_counts (
  block INTEGER PRIMARY KEY,
  counts BLOB NOT NULL            -- 512 f64 counts, then 512 f64 times of the last ingest
);
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL,
  ts INTEGER NOT NULL,            -- event time used for order and windows
  ingested_at INTEGER NOT NULL,   -- never falls as id grows
  labels BLOB NOT NULL,           -- u32 little-endian label ids: @source, @type, then the event's own
  entity INTEGER,                 -- label id of the entity, if it has one
  numbers TEXT,                   -- number labels as JSON
  claimed_time TEXT,              -- event time as the payload gave it, where it could not be used
  text TEXT NOT NULL,
  raw BLOB NOT NULL               -- the item exactly as received
);
CREATE TABLE segs (
  seg INTEGER PRIMARY KEY,
  n INTEGER NOT NULL,
  min_ts INTEGER NOT NULL,
  max_ts INTEGER NOT NULL,
  max_ingested_at INTEGER NOT NULL,
  dropping INTEGER NOT NULL DEFAULT 0,  -- retention is removing it; reads no longer see it
  ts BLOB NOT NULL                      -- f64 base, then u32 milliseconds above it, by offset
);
CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a new source of an old name starts empty
  name TEXT NOT NULL,
  connector TEXT NOT NULL,
  poll TEXT NOT NULL,
  config TEXT NOT NULL CHECK (json_valid(config)),   -- secrets sealed
  ingest_key TEXT UNIQUE,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  owned_by TEXT,
  customized INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  events INTEGER NOT NULL DEFAULT 0,
  last_ingest INTEGER
, change_set INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX sources_live_name ON sources (name) WHERE state <> 'deleted';
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,          -- from the same counter as events.id
  source_id INTEGER NOT NULL,
  ingested_at INTEGER NOT NULL,
  superseded_at INTEGER,           -- when it stopped being current
  labels TEXT NOT NULL CHECK (json_valid(labels)),
  entity TEXT,                     -- name of the primary label
  text TEXT NOT NULL,
  raw BLOB NOT NULL
);
CREATE INDEX documents_source ON documents (source_id, superseded_at);
CREATE TABLE purges (source_id INTEGER PRIMARY KEY, requested_at INTEGER NOT NULL);
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,       -- lower-case hex SHA-256 of the secret
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  source_id INTEGER,
  project TEXT,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
, is_login INTEGER NOT NULL DEFAULT 0);
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,            -- hex SHA-256 of caller, route and Idempotency-Key
  body_hash TEXT NOT NULL,
  answer TEXT NOT NULL CHECK (json_valid(answer)),
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE TABLE dedupe (
  source_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  event_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (source_id, key)
) WITHOUT ROWID;
CREATE INDEX dedupe_age ON dedupe (created_at);
CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  object TEXT NOT NULL,
  from_state TEXT,
  event TEXT NOT NULL,
  to_state TEXT NOT NULL,
  actor TEXT NOT NULL
);
CREATE INDEX history_object ON history (kind, object, id);
CREATE TABLE triggers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),        -- as schemas/trigger-spec.json, without paused
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,                 -- of the snapshot
  change_set INTEGER NOT NULL DEFAULT 0,              -- that last changed it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX triggers_live_name ON triggers (name) WHERE state <> 'deleted';
CREATE TABLE agents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),        -- secrets sealed
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  change_set INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX agents_live_name ON agents (name) WHERE state <> 'deleted';
CREATE TABLE mcp_servers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),        -- secrets sealed
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  change_set INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX mcp_servers_live_name ON mcp_servers (name) WHERE state <> 'deleted';
CREATE TABLE skills (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  change_set INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX skills_live_name ON skills (name) WHERE state <> 'deleted';
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  change_set INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX projects_live_name ON projects (name) WHERE state <> 'deleted';
CREATE TABLE project_uses (
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (project, kind, name)
) WITHOUT ROWID;
CREATE INDEX project_uses_part ON project_uses (kind, name);
CREATE TABLE planned_objects (
  id INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  plan TEXT NOT NULL CHECK (json_valid(plan)),        -- spec as planned
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  UNIQUE (project, kind, key)
);
CREATE INDEX planned_objects_name ON planned_objects (kind, name);
CREATE TABLE change_sets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  why TEXT NOT NULL,
  summary TEXT NOT NULL,
  undoes INTEGER REFERENCES change_sets (id),
  undone_by INTEGER REFERENCES change_sets (id)
);
CREATE TABLE changes (
  change_set INTEGER NOT NULL REFERENCES change_sets (id),
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,               -- name of a part, id of a project
  name TEXT NOT NULL,
  action TEXT NOT NULL,
  before TEXT,                     -- null: it was not there
  after TEXT,                      -- null: it is no longer there
  PRIMARY KEY (change_set, seq)
) WITHOUT ROWID;
CREATE INDEX changes_object ON changes (kind, key, change_set);
CREATE TABLE change_set_projects (
  project TEXT NOT NULL,
  change_set INTEGER NOT NULL,
  PRIMARY KEY (project, change_set)
) WITHOUT ROWID;
CREATE TABLE sessions (
  id_hash TEXT PRIMARY KEY,       -- lower-case hex SHA-256 of the cookie's value
  token_hash TEXT NOT NULL,       -- of the token it was opened with: the session ends with it
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE firings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  dispatch_id TEXT NOT NULL UNIQUE,
  trigger_id INTEGER NOT NULL,
  trigger_name TEXT NOT NULL,
  project TEXT,                     -- the trigger was made in
  projects TEXT NOT NULL,           -- JSON list: whose wiring or subscriptions it reached
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  label TEXT,                       -- of the entity; null: the key is none
  value_text TEXT,                  -- of the entity
  cause TEXT NOT NULL,
  spec TEXT NOT NULL,               -- of the trigger, as it was
  opened_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,         -- last crossing
  fired_at INTEGER,
  due_at INTEGER,                   -- gathering or held: when it is decided
  as_of INTEGER,                    -- what it carries had been ingested by then
  value REAL,
  reason TEXT NOT NULL,
  event_id INTEGER,                 -- first cause
  events INTEGER NOT NULL,
  key_count INTEGER NOT NULL,
  crossings INTEGER NOT NULL,
  held_back INTEGER NOT NULL DEFAULT 0,
  late_by INTEGER,                  -- ms, of a schedule
  slot INTEGER,                     -- of a schedule
  resolves TEXT,
  practice INTEGER NOT NULL DEFAULT 0,
  parent_run_id TEXT,
  payload TEXT,                     -- rendered once, when first delivered or shown
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1, held_at INTEGER, dropped_at INTEGER, incident_id INTEGER, severity TEXT, suppressed_by TEXT,
  UNIQUE (trigger_id, cause)
);
CREATE INDEX firings_trigger ON firings (trigger_id, fired_at);
CREATE INDEX firings_fired ON firings (fired_at);
CREATE UNIQUE INDEX firings_open ON firings (trigger_id) WHERE state IN ('gathering', 'held');
CREATE INDEX firings_entity ON firings (label, value_text, fired_at);
CREATE TABLE firing_events (
  firing_id INTEGER NOT NULL REFERENCES firings (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  n INTEGER NOT NULL,
  ids BLOB NOT NULL,
  PRIMARY KEY (firing_id, seq)
) WITHOUT ROWID;
CREATE TABLE firing_keys (
  firing_id INTEGER NOT NULL REFERENCES firings (id) ON DELETE CASCADE,
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  events INTEGER NOT NULL,
  first_event INTEGER,
  PRIMARY KEY (firing_id, key)
) WITHOUT ROWID;
CREATE INDEX firing_keys_last ON firing_keys (trigger_id, key, firing_id);
CREATE TABLE active_keys (
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,             -- JSON list of label ids
  since INTEGER NOT NULL,
  dispatch_id TEXT NOT NULL, lead INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (trigger_id, key)
) WITHOUT ROWID;
CREATE TABLE watched_keys (
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,
  last_id INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  silent INTEGER NOT NULL,
  PRIMARY KEY (trigger_id, key)
) WITHOUT ROWID;
CREATE TABLE key_bases (
  trigger_id INTEGER PRIMARY KEY,
  basis TEXT NOT NULL
);
CREATE TABLE trigger_schedules (
  trigger_id INTEGER PRIMARY KEY,
  condition TEXT NOT NULL,          -- as it was: another one begins anew
  anchor INTEGER NOT NULL,
  last_slot INTEGER NOT NULL
);
CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  trigger_id INTEGER NOT NULL,
  trigger_name TEXT NOT NULL,
  event_id INTEGER,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  dispatch_id TEXT,
  detail TEXT NOT NULL CHECK (json_valid(detail))
);
CREATE INDEX evaluations_event ON evaluations (event_id, trigger_id);
CREATE INDEX evaluations_trigger ON evaluations (trigger_id, id);
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  trigger_name TEXT,                -- null: every trigger of the project
  project TEXT,
  kind TEXT NOT NULL,
  url TEXT NOT NULL,                -- sealed
  audience TEXT NOT NULL,           -- operator or caller: which addresses it may reach
  url_hash TEXT NOT NULL,
  masked TEXT NOT NULL,
  secret TEXT,                      -- sealed; of the signature
  name TEXT NOT NULL,
  created_by TEXT NOT NULL,
  caller TEXT NOT NULL,             -- id of the credential
  key_id TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  removed_at INTEGER
, removed_with TEXT, format TEXT);
CREATE INDEX subscriptions_trigger ON subscriptions (trigger_name) WHERE removed_at IS NULL;
CREATE INDEX subscriptions_project ON subscriptions (project) WHERE removed_at IS NULL;
CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),  -- secrets in it sealed
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE model_usage (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  surface TEXT NOT NULL,            -- agent or ask
  agent TEXT,
  run_id TEXT,
  practice INTEGER NOT NULL DEFAULT 0,
  model TEXT NOT NULL,              -- named in the reply
  provider TEXT NOT NULL,
  key_source TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_creation_input_tokens INTEGER NOT NULL,
  cache_read_input_tokens INTEGER NOT NULL,
  cost_usd REAL                     -- null: uncosted
);
CREATE INDEX model_usage_at ON model_usage (at);
CREATE TABLE mcp_tools (
  server TEXT NOT NULL,
  tool TEXT NOT NULL,                -- as the server calls it
  hash TEXT NOT NULL,                -- pinned: SHA-256 of description, schema and read-only mark
  description TEXT NOT NULL,
  input TEXT NOT NULL CHECK (json_valid(input)),
  read_only INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  gone_at INTEGER,                   -- no longer listed since
  changed_hash TEXT,                 -- what it says now, where that is not what was pinned
  changed_description TEXT,
  changed_input TEXT,
  changed_read_only INTEGER,
  changed_at INTEGER,
  approved_at INTEGER,
  approved_by TEXT,
  PRIMARY KEY (server, tool)
);
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
  handled_at INTEGER,
  handled_by TEXT,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
, skills TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(skills)), parked_since INTEGER, parked_until INTEGER, parked_why TEXT, parked_times INTEGER NOT NULL DEFAULT 0, cancelled_by TEXT, cache_saved_usd REAL NOT NULL DEFAULT 0, fallback TEXT, assumed_usd REAL NOT NULL DEFAULT 0, assumed_at INTEGER, incident TEXT, wake_key TEXT, woke_at INTEGER, mark TEXT CHECK (mark IN ('right', 'wrong', 'partly')), mark_note TEXT, mark_cause TEXT, marked_at INTEGER, marked_by TEXT);
CREATE INDEX runs_agent ON runs (agent, seq);
CREATE INDEX runs_entity ON runs (label, entity, seq);
CREATE INDEX runs_root ON runs (root_run_id, seq);
CREATE INDEX runs_event ON runs (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX runs_firing ON runs (firing_id) WHERE firing_id IS NOT NULL;
CREATE INDEX runs_finished ON runs (finished_at);
CREATE INDEX runs_reserved ON runs (agent, reserved_usd) WHERE reserved_usd > 0;
CREATE INDEX model_usage_agent ON model_usage (agent, at);
CREATE TABLE run_projects (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  PRIMARY KEY (run_id, project)
) WITHOUT ROWID;
CREATE INDEX run_projects_project ON run_projects (project, run_id);
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
CREATE INDEX firings_bursts ON firings (trigger_id, opened_at) WHERE fired_at IS NULL OR fired_at > opened_at;
CREATE INDEX evaluations_at ON evaluations (trigger_id, at);
CREATE INDEX change_sets_at ON change_sets (at);
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
CREATE TABLE polls (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id),
  cursor TEXT,                      -- of the last poll that was stored; null: none was
  next_at INTEGER NOT NULL,         -- when the next is due
  last_poll_at INTEGER,
  last_ok_at INTEGER,
  last_error TEXT,                  -- of the last poll, if it failed
  consecutive_errors INTEGER NOT NULL DEFAULT 0,
  notice TEXT,                      -- what the last poll that worked had to say
  restarted TEXT                    -- why reading began anew, until the source is edited again
);
CREATE INDEX polls_due ON polls (next_at);
CREATE TABLE "labels" (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE label_keys (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (name, value)
) WITHOUT ROWID;
CREATE TABLE labels_keyed (through INTEGER NOT NULL);
CREATE VIEW named_labels (id, name, value) AS
SELECT id, name, value FROM label_keys
UNION ALL
SELECT id, name, value FROM labels WHERE id > (SELECT through FROM labels_keyed);
CREATE TABLE credentials (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  token TEXT NOT NULL,              -- sealed
  api_url TEXT NOT NULL,            -- what the token is for, and is sent to
  account TEXT,                     -- as the other system named it
  expires_at INTEGER,               -- epoch ms, as it said
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL       -- when the token was stored
, app TEXT CHECK (app IS NULL OR json_valid(app)));
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
CREATE TABLE setup_steps (
  setup TEXT NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  text TEXT NOT NULL,
  state TEXT NOT NULL,              -- running, done or stopped
  at INTEGER NOT NULL,
  PRIMARY KEY (setup, n)
) WITHOUT ROWID;
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
, asked_as TEXT CHECK (asked_as IS NULL OR json_valid(asked_as)));
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
CREATE TABLE commits (n INTEGER NOT NULL) STRICT;
CREATE TABLE catalog_files (name TEXT PRIMARY KEY, text TEXT NOT NULL, imported_at INTEGER NOT NULL);
CREATE TABLE guarded_parts (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX runs_waiting ON runs (agent, definition_hash, seq, label, entity, practice) WHERE state = 'queued';
CREATE INDEX runs_started ON runs (agent, started_at, state, woken_by) WHERE started_at IS NOT NULL;
CREATE INDEX runs_assumed ON runs (agent, assumed_at) WHERE assumed_usd > 0;
CREATE INDEX runs_open ON runs (state, seq) WHERE state IN ('queued', 'running', 'parked');
CREATE INDEX runs_parked ON runs (parked_until) WHERE state = 'parked';
CREATE TABLE "post" (
  seg INTEGER NOT NULL,
  last_label INTEGER NOT NULL,           -- largest label id in the block
  data BLOB NOT NULL
);
CREATE UNIQUE INDEX post_key ON post (seg, last_label);
CREATE INDEX runs_incident ON runs (incident, seq);
CREATE INDEX runs_wake ON runs (wake_key, woke_at) WHERE wake_key IS NOT NULL;
CREATE TABLE eval_reports (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  handed_in_at INTEGER NOT NULL,    -- epoch ms
  handed_in_by TEXT NOT NULL,
  summary TEXT NOT NULL,            -- JSON: what lists show of it
  report BLOB NOT NULL              -- JSON, gzip
);
CREATE TABLE "deliveries" (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,             -- order of making, for order per recipient and key; times never fall with it
  firing_id INTEGER REFERENCES firings (id) ON DELETE CASCADE, -- what it tells: a firing,
  finding_of TEXT REFERENCES runs (id) ON DELETE CASCADE,      -- or the finding of a run
  recipient_kind TEXT NOT NULL,     -- agent, webhook, slack, mcp, write_back
  recipient TEXT NOT NULL,          -- id of the subscription, name of the agent; of a finding kind:agent
  key TEXT NOT NULL,
  projects TEXT NOT NULL DEFAULT '[]',
  made_at INTEGER NOT NULL,
  due_at INTEGER,                   -- pending: not before; else null
  delivered_at INTEGER,
  reason TEXT,
  run_id TEXT,                      -- to an agent: the run it started or joined
  progress TEXT,                    -- JSON, of a finding posted to Slack: channel, ts, parts of the thread there
  lease TEXT,                       -- hex SHA-256 of what the holder was given
  held_since INTEGER,
  lease_until INTEGER,              -- of one that is held
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1, was_cut INTEGER NOT NULL DEFAULT 0,
  CHECK ((firing_id IS NULL) <> (finding_of IS NULL))
);
CREATE UNIQUE INDEX deliveries_seq ON deliveries (seq);
CREATE INDEX deliveries_firing ON deliveries (firing_id) WHERE firing_id IS NOT NULL;
CREATE INDEX deliveries_finding ON deliveries (finding_of) WHERE finding_of IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (state, recipient, key, seq) WHERE state IN ('pending', 'running');
CREATE INDEX deliveries_recipient ON deliveries (recipient, seq);
CREATE INDEX deliveries_due ON deliveries (due_at, seq) WHERE state = 'pending';
CREATE INDEX deliveries_run ON deliveries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX deliveries_leases ON deliveries (lease_until) WHERE lease_until IS NOT NULL;
CREATE TABLE delivery_tries (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  PRIMARY KEY (delivery_id, n)
) WITHOUT ROWID;
CREATE INDEX delivery_tries_at ON delivery_tries (at);
CREATE TABLE incidents (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number
  trigger_id INTEGER NOT NULL,
  trigger_name TEXT NOT NULL,
  project TEXT,                     -- the trigger was made in
  key TEXT NOT NULL,
  label TEXT,                       -- of the entity; null: the key is none
  value_text TEXT,                  -- of the entity
  sentence TEXT NOT NULL,           -- of its trigger, where nothing was found
  rank INTEGER NOT NULL,            -- severity: 3 critical, 2 warning, 1 info
  fired_rank INTEGER NOT NULL,      -- highest of its firings: a lower one a person sets stays
  opened_at INTEGER NOT NULL,
  last_fired_at INTEGER NOT NULL,
  firings INTEGER NOT NULL,         -- resolved ones left out
  assignee TEXT,
  is_assigned_by_taking INTEGER NOT NULL DEFAULT 0, -- acknowledging gave it to whoever did
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  snoozed_at INTEGER,
  snoozed_by TEXT,
  snoozed_until INTEGER,            -- null: until it changes
  handled_at INTEGER,
  handled_by TEXT,
  handled_how TEXT,
  previous INTEGER,                 -- the one before it of the same trigger and key
  quiet_from INTEGER NOT NULL,      -- last firing, or when it was opened again
  due_at INTEGER,                   -- when the clock alone does something to it; null: it is handled
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
, titled_by INTEGER, maintenance_id INTEGER);
CREATE UNIQUE INDEX incidents_active ON incidents (trigger_id, key) WHERE state <> 'handled';
CREATE INDEX incidents_key ON incidents (trigger_id, key, id);
CREATE INDEX incidents_listed ON incidents (rank DESC, last_fired_at DESC, id DESC) WHERE state <> 'handled';
CREATE INDEX incidents_handled ON incidents (handled_at DESC, id DESC) WHERE state = 'handled';
CREATE INDEX incidents_due ON incidents (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX incidents_opened ON incidents (opened_at);
CREATE TABLE incident_activity (
  incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  by_name TEXT NOT NULL,
  via TEXT NOT NULL,
  action TEXT NOT NULL,
  from_state TEXT,
  to_state TEXT NOT NULL,
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  PRIMARY KEY (incident_id, n)
) WITHOUT ROWID;
CREATE TABLE incident_runs (
  incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  PRIMARY KEY (incident_id, run_id)
) WITHOUT ROWID;
CREATE INDEX incident_runs_run ON incident_runs (run_id);
CREATE INDEX firings_incident ON firings (incident_id, fired_at) WHERE incident_id IS NOT NULL;
CREATE INDEX firings_counted ON firings (trigger_id, fired_at) WHERE practice = 0 AND resolves IS NULL;
CREATE TABLE catalog_syncs (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  settings TEXT NOT NULL CHECK (json_valid(settings)), -- address, path, ref, environment, policy, interval; no secret
  is_followed INTEGER NOT NULL,     -- 0: the daemon was started without a repository
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1,
  looked_at INTEGER,                -- the last look began
  fetched_at INTEGER,               -- the repository was read last
  next_at INTEGER,                  -- the next look by the clock
  head TEXT CHECK (head IS NULL OR json_valid(head)),       -- newest commit that was read
  target TEXT CHECK (target IS NULL OR json_valid(target)), -- commit of a rollback, which holds while `head` is the newest
  applied TEXT CHECK (applied IS NULL OR json_valid(applied)), -- commit the instance was last made like, or was found like
  applied_at INTEGER,
  change_set INTEGER,               -- of that; null: there was nothing to change
  catalogs TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(catalogs)), -- names under which its files are remembered
  code TEXT,                        -- kind of what keeps it from being synced
  reason TEXT,                      -- the same as a sentence
  planned_version INTEGER,          -- newest change-set when it was planned
  outcome TEXT CHECK (outcome IS NULL OR json_valid(outcome)) -- plan, problems, files and parts of the last look
, pull_request TEXT CHECK (pull_request IS NULL OR json_valid(pull_request)));
CREATE TABLE catalog_sync_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,            -- applied, rolled_back, failed, drifted, held
  commit_of TEXT CHECK (commit_of IS NULL OR json_valid(commit_of)),
  by_name TEXT NOT NULL,
  policy TEXT NOT NULL,
  creates INTEGER NOT NULL,
  updates INTEGER NOT NULL,
  deletes INTEGER NOT NULL,
  change_set INTEGER,
  code TEXT,
  reason TEXT,
  reported_at INTEGER               -- its status was sent to GitHub
);
CREATE TABLE renames (
  change_set INTEGER NOT NULL REFERENCES change_sets (id),
  seq INTEGER NOT NULL,             -- order in it
  kind TEXT NOT NULL,
  name_from TEXT NOT NULL,
  name_to TEXT NOT NULL,
  PRIMARY KEY (change_set, seq)
) WITHOUT ROWID;
CREATE TABLE part_syncs (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  mode TEXT NOT NULL,               -- enforce, warn or adopt
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE slack_threads (
  id INTEGER PRIMARY KEY,
  incident_id INTEGER REFERENCES incidents (id) ON DELETE CASCADE,
  proposal_id TEXT,                 -- one of both
  channel TEXT NOT NULL,            -- id of the channel
  address TEXT NOT NULL,            -- of the channel, as the subscription or the agent says it
  ts TEXT NOT NULL,                 -- of the message that heads it; empty: it is to be posted
  permalink TEXT,
  made_at INTEGER NOT NULL,
  root TEXT NOT NULL CHECK (json_valid(root)), -- the message without where its incident stands
  run_id TEXT,                      -- whose finding the message shows
  told INTEGER NOT NULL,            -- last row of the activity that the thread has
  telling INTEGER,                  -- a reply up to this row was being posted: whether it is there is not known
  shown TEXT,                       -- digest of the message as it was posted last
  shown_at INTEGER,
  touched INTEGER NOT NULL DEFAULT 0, -- counts what happened to its subject
  due_at INTEGER,                   -- to be brought up to date; null: it is
  tries INTEGER NOT NULL DEFAULT 0,
  problem TEXT                      -- why it could not be brought up to date
);
CREATE UNIQUE INDEX slack_threads_incident ON slack_threads (incident_id, channel) WHERE incident_id IS NOT NULL;
CREATE UNIQUE INDEX slack_threads_proposal ON slack_threads (proposal_id, channel) WHERE proposal_id IS NOT NULL;
CREATE INDEX slack_threads_message ON slack_threads (channel, ts);
CREATE INDEX slack_threads_due ON slack_threads (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE slack_posts (
  thread_id INTEGER NOT NULL REFERENCES slack_threads (id) ON DELETE CASCADE,
  ts TEXT NOT NULL,
  kind TEXT NOT NULL,               -- opened, firing, finding, activity
  ref TEXT,                         -- delivery or run
  permalink TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (thread_id, ts)
) WITHOUT ROWID;
CREATE TABLE slack_requests (
  id TEXT PRIMARY KEY,              -- that Slack gave the event, command or button press
  at INTEGER NOT NULL,
  done_at INTEGER                   -- null: it is under way, or the daemon was stopped meanwhile
) WITHOUT ROWID;
CREATE INDEX slack_requests_at ON slack_requests (at);
CREATE TABLE slack_answers (
  turn TEXT PRIMARY KEY,
  person TEXT NOT NULL,             -- team and user
  name TEXT NOT NULL,
  channel TEXT NOT NULL,
  thread_ts TEXT,                   -- null: the message that heads the thread is to be posted
  ts TEXT,                          -- of the answer, once it is there
  question TEXT NOT NULL,
  answer TEXT,                      -- null: it is being answered
  at INTEGER NOT NULL,
  state TEXT NOT NULL               -- answering, answered, failed
) WITHOUT ROWID;
CREATE INDEX slack_answers_person ON slack_answers (person, at);
CREATE INDEX slack_answers_thread ON slack_answers (channel, thread_ts, at);
CREATE INDEX slack_answers_open ON slack_answers (at) WHERE state = 'answering';
CREATE TABLE entities (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,               -- JSON
  change_set INTEGER NOT NULL,      -- that last changed it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL CHECK (json_valid(redirect_uris)),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL          -- registered, or last asked for a token
) WITHOUT ROWID;
CREATE TABLE oauth_grants (
  id TEXT PRIMARY KEY,
  client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
  approver TEXT NOT NULL,           -- who consented: env:auth or key:<id>
  approver_hash TEXT NOT NULL,      -- of the credential of that person's session: the grant ends with it
  resource TEXT NOT NULL,           -- address of the server that its tokens are for (RFC 8707)
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);
CREATE TABLE oauth_tokens (
  hash TEXT PRIMARY KEY,            -- lower-case hex SHA-256
  grant_id TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at INTEGER NOT NULL,
  spent_at INTEGER                  -- of a refresh token that was exchanged: whoever shows it again ends the grant
) WITHOUT ROWID;
CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
CREATE TABLE ask_cut_calls (
  at INTEGER NOT NULL,
  usd REAL NOT NULL                 -- what was reserved
);
CREATE TABLE active_alerts (
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  alert TEXT NOT NULL,              -- JSON list: what its events have in common
  labels TEXT NOT NULL,             -- JSON list of label ids of the key
  event_id INTEGER NOT NULL,        -- the one that said that it is on
  ts INTEGER NOT NULL,              -- event time of that
  since INTEGER NOT NULL,           -- when the first of it was stored
  rank INTEGER,                     -- 3 is critical
  told INTEGER NOT NULL,            -- 1: a firing told of it
  over_at INTEGER,
  PRIMARY KEY (trigger_id, key, alert)
) WITHOUT ROWID;
CREATE TABLE maintenance_windows (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reason TEXT NOT NULL,
  entities TEXT NOT NULL CHECK (json_valid(entities)), -- JSON list of label=value; []: of any
  triggers TEXT NOT NULL CHECK (json_valid(triggers)), -- JSON list of ids of triggers; []: of any
  project TEXT,                                        -- null: of any
  from_at INTEGER NOT NULL,
  until_at INTEGER NOT NULL,
  ended_at INTEGER,                                    -- when a person ended it before its time
  by_name TEXT NOT NULL,
  via TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0                      -- firings that it held back
, cron TEXT, time_zone TEXT, lasts TEXT, moved_from INTEGER, moved_until INTEGER);
CREATE INDEX maintenance_windows_until ON maintenance_windows (until_at);
CREATE INDEX incidents_maintenance ON incidents (maintenance_id) WHERE maintenance_id IS NOT NULL;
INSERT INTO "labels_keyed" VALUES (0);
INSERT INTO "commits" VALUES (0);
