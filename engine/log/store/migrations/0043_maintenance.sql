-- Maintenance windows: what fires of these while one lasts opens its incident snoozed until the end of it.
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
);
CREATE INDEX maintenance_windows_until ON maintenance_windows (until_at);
-- The window that an incident is snoozed by; null: none.
ALTER TABLE incidents ADD COLUMN maintenance_id INTEGER;
CREATE INDEX incidents_maintenance ON incidents (maintenance_id) WHERE maintenance_id IS NOT NULL;
