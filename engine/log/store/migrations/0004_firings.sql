-- Triggers that fire: what tripped, whom it is told to, and why an event woke nobody.

-- A firing is written in the transaction of the events that tripped it. Its cause is unique among
-- those of its trigger, so that nothing fires twice.
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
  version INTEGER NOT NULL DEFAULT 1,
  UNIQUE (trigger_id, cause)
);
CREATE INDEX firings_trigger ON firings (trigger_id, fired_at);
CREATE INDEX firings_fired ON firings (fired_at);
CREATE UNIQUE INDEX firings_open ON firings (trigger_id) WHERE state IN ('gathering', 'held');
CREATE INDEX firings_entity ON firings (label, value_text, fired_at);

-- Event ids a firing carries: chunks of delta-coded numbers, in the order they were folded in.
CREATE TABLE firing_events (
  firing_id INTEGER NOT NULL REFERENCES firings (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  n INTEGER NOT NULL,
  ids BLOB NOT NULL,
  PRIMARY KEY (firing_id, seq)
) WITHOUT ROWID;

-- Keys a firing spreads over; of each, when it last fired.
CREATE TABLE firing_keys (
  firing_id INTEGER NOT NULL REFERENCES firings (id) ON DELETE CASCADE,
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  events INTEGER NOT NULL,
  first_event INTEGER,
  PRIMARY KEY (firing_id, key)
) WITHOUT ROWID;
CREATE INDEX firing_keys_last ON firing_keys (trigger_id, key, firing_id);

-- Keys of triggers with `resolve` that fired and are not over.
CREATE TABLE active_keys (
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,             -- JSON list of label ids
  since INTEGER NOT NULL,
  dispatch_id TEXT NOT NULL,
  PRIMARY KEY (trigger_id, key)
) WITHOUT ROWID;

-- Keys that are watched for silence.
CREATE TABLE watched_keys (
  trigger_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,
  last_id INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  silent INTEGER NOT NULL,
  PRIMARY KEY (trigger_id, key)
) WITHOUT ROWID;

-- What the keys above were found by: under another condition, filter or key they say nothing.
CREATE TABLE key_bases (
  trigger_id INTEGER PRIMARY KEY,
  basis TEXT NOT NULL
);

-- Where each schedule stands.
CREATE TABLE trigger_schedules (
  trigger_id INTEGER PRIMARY KEY,
  condition TEXT NOT NULL,          -- as it was: another one begins anew
  anchor INTEGER NOT NULL,
  last_slot INTEGER NOT NULL
);

-- Why events fired, or did not: bounded per trigger, firings and errors as long as their firing.
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
);
CREATE INDEX subscriptions_trigger ON subscriptions (trigger_name) WHERE removed_at IS NULL;
CREATE INDEX subscriptions_project ON subscriptions (project) WHERE removed_at IS NULL;

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,             -- order of making, for order per recipient and key
  firing_id INTEGER NOT NULL REFERENCES firings (id) ON DELETE CASCADE,
  recipient_kind TEXT NOT NULL,
  recipient TEXT NOT NULL,          -- id of the subscription, name of the agent
  key TEXT NOT NULL,
  projects TEXT NOT NULL DEFAULT '[]',
  made_at INTEGER NOT NULL,
  due_at INTEGER,                   -- pending: not before; else null
  delivered_at INTEGER,
  reason TEXT,
  run_id TEXT,
  snapshot TEXT NOT NULL CHECK (json_valid(snapshot)),
  state TEXT GENERATED ALWAYS AS (json_extract(snapshot, '$.value')) STORED,
  version INTEGER NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX deliveries_seq ON deliveries (seq);
CREATE INDEX deliveries_firing ON deliveries (firing_id);
CREATE INDEX deliveries_open ON deliveries (state, recipient, key, seq) WHERE state IN ('pending', 'running');
CREATE INDEX deliveries_recipient ON deliveries (recipient, seq);

CREATE TABLE delivery_tries (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  PRIMARY KEY (delivery_id, n)
) WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (due_at, seq) WHERE state = 'pending';
