-- Incidents: the firings of one trigger for one key, from the first until it is handled (machines/incident.ts).
-- `runs.incident` is something else: which chains of runs looked at the same thing.

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
);
-- One at a time.
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

-- Runs that its firings woke, and those of their chains.
CREATE TABLE incident_runs (
  incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  PRIMARY KEY (incident_id, run_id)
) WITHOUT ROWID;
CREATE INDEX incident_runs_run ON incident_runs (run_id);

ALTER TABLE firings ADD COLUMN incident_id INTEGER;
ALTER TABLE firings ADD COLUMN severity TEXT;
ALTER TABLE firings ADD COLUMN suppressed_by TEXT; -- why its deliveries were held back
CREATE INDEX firings_incident ON firings (incident_id, fired_at) WHERE incident_id IS NOT NULL;
-- Counts of a trigger, without their rows.
CREATE INDEX firings_counted ON firings (trigger_id, fired_at) WHERE practice = 0 AND resolves IS NULL;

-- Firings of the last 24 hours become incidents when the file is opened (engine/incidents/adopt.ts).
INSERT INTO meta SELECT 'incidents_due', '1' WHERE EXISTS (SELECT 1 FROM firings);
