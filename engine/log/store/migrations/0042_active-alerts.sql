-- Alerts of a key that are on, or were over before others of it, of a trigger whose events say when they are over.
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
