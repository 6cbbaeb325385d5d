-- The git repository that the catalog is synced with, and what came of its looks (engine/reconcile). One row.
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
);

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
