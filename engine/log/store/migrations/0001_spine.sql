-- The spine: events and their index, sources, keys, idempotency.
-- Times are epoch milliseconds, UTC. Ids that leave the daemon as text say so.

-- Facts about this file: instance id, cursor secret, clean-stop mark, clock floor.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every distinct string label, interned. Two names are ours: @source (value = sources.id) and
-- @type (value = event type), so that narrowing is the same index operation as a label.
CREATE TABLE labels (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (name, value)
);

-- Events per label in sealed segments, 512 labels a row (block = label id >> 9), so that sealing
-- writes a hundred rows instead of one per label. The open segment's are counted in memory.
CREATE TABLE label_counts (
  block INTEGER PRIMARY KEY,
  counts BLOB NOT NULL            -- 512 f64 counts, then 512 f64 times of the last ingest
);

-- Append-only, in order of arrival: id grows by one per event and never comes back.
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

-- A segment is a range of 65,536 ids (segment = id >> 16). Sealed ones have their times and
-- postings on disk; the open one's are in memory and are rebuilt from events at boot.
CREATE TABLE segs (
  seg INTEGER PRIMARY KEY,
  n INTEGER NOT NULL,
  min_ts INTEGER NOT NULL,
  max_ts INTEGER NOT NULL,
  max_ingested_at INTEGER NOT NULL,
  dropping INTEGER NOT NULL DEFAULT 0,  -- retention is removing it; reads no longer see it
  ts BLOB NOT NULL                      -- f64 base, then u32 milliseconds above it, by offset
);
-- Postings in blocks of about 8 KiB, labels ascending: a block is found by the first row whose
-- last_label is not below the label sought.
CREATE TABLE post (
  seg INTEGER NOT NULL,
  last_label INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (seg, last_label)
) WITHOUT ROWID;

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
);
CREATE UNIQUE INDEX sources_live_name ON sources (name) WHERE state <> 'deleted';

-- Reference documents: re-materialised on edit, each version kept with its span of ids so that a
-- read as of an earlier instant shows the documents of then.
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

-- A purge that is under way: reads mask the source, chunks remove its rows.
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
);

-- Answers kept for 24 h, and item keys kept for 72 h. Unique indexes decide, not a prior read.
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

-- Every change of a lifecycle state: what, from where, by which event, to where, by whom, when.
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
