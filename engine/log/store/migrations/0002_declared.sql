-- The declarative core: parts, projects, wiring, and the record of every change to them.
-- Rows of deleted parts and projects stay, so that undoing the delete brings the same one back.

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

ALTER TABLE sources ADD COLUMN change_set INTEGER NOT NULL DEFAULT 0;

-- A project and its wiring: spec holds name, goal, template, params (secrets sealed), the parts it
-- uses, which trigger wakes which agent, and who takes over on whose verdict.
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

-- Which live project uses which part: derived from projects.spec, for look-ups both ways.
CREATE TABLE project_uses (
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (project, kind, name)
) WITHOUT ROWID;
CREATE INDEX project_uses_part ON project_uses (kind, name);

-- Objects a template planned, by their key in the plan.
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

-- Every change, in one row per object: what it was and what it became, secrets sealed.
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

-- The catalog file as last imported, so that an export keeps its comments and order.
CREATE TABLE catalog_file (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL, imported_at INTEGER NOT NULL);

-- Findings as projects list them; each is an event on its entity's timeline too.
CREATE TABLE findings (
  run_id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  agent TEXT NOT NULL,
  entity TEXT NOT NULL,
  label TEXT NOT NULL,
  verdict TEXT,
  headline TEXT,
  next_step TEXT,
  finding TEXT NOT NULL,
  external INTEGER NOT NULL,
  at INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  handled_at INTEGER,
  handled_by TEXT
);
CREATE INDEX findings_project ON findings (project, at);
