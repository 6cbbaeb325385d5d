-- Joined entities: the names that one thing has in several systems (docs/entities.md). Reads join by them; no event knows of them.
CREATE TABLE entities (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,               -- JSON
  change_set INTEGER NOT NULL,      -- that last changed it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
