-- One outbox: write-backs and posts to Slack become deliveries, beside those of firings. Rows are copied to a new
-- table, for a firing is no longer required and SQLite cannot take a NOT NULL away. Dropping a table deletes its
-- rows first, and with them those that refer to it: so the tries are copied before and made anew.
CREATE TABLE outbox_rows (
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
  version INTEGER NOT NULL DEFAULT 1,
  CHECK ((firing_id IS NULL) <> (finding_of IS NULL))
);

-- As they stood in the rows of runs. The id is made here: 16 random bytes in the form of all others.
CREATE TEMP TABLE told AS
  SELECT 'dlv_' || substr(printf('%012x', r.finished_at), 1, 12) || '7' || substr(lower(hex(randomblob(2))), 2)
      || 'a' || substr(lower(hex(randomblob(8))), 2) AS id,
    r.id AS run, 'write_back' AS kind, r.agent, r.entity AS key, r.finished_at AS made_at,
    CASE r.delivery WHEN 'pending' THEN 'pending' WHEN 'ok' THEN 'delivered' ELSE 'failed' END AS state,
    r.delivery_tries AS tries, 3 AS max_tries,
    CASE WHEN r.delivery = 'pending' THEN r.delivery_due_at END AS due_at,
    CASE WHEN r.delivery = 'ok' THEN coalesce(r.delivery_at, r.finished_at) END AS delivered_at,
    CASE WHEN r.delivery <> 'ok' THEN r.delivery_error END AS reason,
    r.delivery_at AS tried_at,
    CASE WHEN r.delivery LIKE 'http %' THEN CAST(substr(r.delivery, 6) AS INTEGER) END AS status,
    NULL AS progress
  FROM runs r WHERE r.delivery IS NOT NULL AND r.finished_at IS NOT NULL
  UNION ALL
  SELECT 'dlv_' || substr(printf('%012x', r.finished_at), 1, 12) || '7' || substr(lower(hex(randomblob(2))), 2)
      || 'b' || substr(lower(hex(randomblob(8))), 2),
    r.id, 'slack', r.agent, r.incident, r.finished_at,
    CASE r.slack WHEN 'pending' THEN 'pending' WHEN 'ok' THEN 'delivered' ELSE 'failed' END,
    r.slack_tries, 6,
    CASE WHEN r.slack = 'pending' THEN r.slack_due_at END,
    -- When it was posted was not written down; it is minutes after the run ended at most.
    CASE WHEN r.slack = 'ok' THEN r.finished_at END,
    CASE WHEN r.slack <> 'ok' THEN r.slack_error END,
    NULL, NULL,
    CASE WHEN r.slack_ts IS NOT NULL
      THEN json_object('channel', r.slack_channel, 'ts', r.slack_ts, 'parts', r.slack_parts) END
  FROM runs r WHERE r.slack IS NOT NULL AND r.finished_at IS NOT NULL;

-- Those of firings keep their order; a finding comes in where it was made.
INSERT INTO outbox_rows (id, seq, firing_id, finding_of, recipient_kind, recipient, key, projects, made_at, due_at,
    delivered_at, reason, run_id, progress, lease, held_since, lease_until, snapshot, version)
  SELECT id, row_number() OVER (ORDER BY place, finding_of IS NOT NULL, seq, id), firing_id, finding_of, recipient_kind,
    recipient, key, projects, made_at, due_at, delivered_at, reason, run_id, progress, lease, held_since, lease_until,
    snapshot, version
  FROM (
    SELECT id, seq, firing_id, NULL AS finding_of, recipient_kind, recipient, key, projects, made_at, due_at,
      delivered_at, reason, run_id, NULL AS progress, lease, held_since, lease_until, snapshot, version,
      max(made_at) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) AS place
    FROM deliveries
    UNION ALL
    SELECT id, 0, NULL, run, kind, kind || ':' || agent, key,
      (SELECT json_group_array(project) FROM run_projects WHERE run_id = run), made_at, due_at,
      delivered_at, reason, NULL, progress, NULL, NULL, NULL,
      json_object('value', state, 'context', json_object('tries', tries, 'max_tries', max_tries, 'due_at', due_at),
        'status', 'active', 'v', 1), 1,
      made_at
    FROM told);

CREATE TABLE outbox_tries (
  delivery_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  PRIMARY KEY (delivery_id, n)
) WITHOUT ROWID;
INSERT INTO outbox_tries SELECT * FROM delivery_tries;
-- Of a write-back the last try alone was written down, and not how long it took; of a post to Slack none was.
INSERT INTO outbox_tries SELECT id, max(tries, 1), tried_at, 0, status, reason FROM told WHERE tried_at IS NOT NULL;

DROP TABLE delivery_tries;
DROP TABLE deliveries;
DROP TABLE told;
ALTER TABLE outbox_rows RENAME TO deliveries;
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
INSERT INTO delivery_tries SELECT * FROM outbox_tries;
DROP TABLE outbox_tries;
CREATE INDEX delivery_tries_at ON delivery_tries (at);

DROP INDEX runs_write_back;
DROP INDEX runs_written_back;
DROP INDEX runs_slack;
ALTER TABLE runs DROP COLUMN delivery;
ALTER TABLE runs DROP COLUMN delivery_error;
ALTER TABLE runs DROP COLUMN delivery_tries;
ALTER TABLE runs DROP COLUMN delivery_due_at;
ALTER TABLE runs DROP COLUMN delivery_at;
ALTER TABLE runs DROP COLUMN slack;
ALTER TABLE runs DROP COLUMN slack_error;
ALTER TABLE runs DROP COLUMN slack_tries;
ALTER TABLE runs DROP COLUMN slack_due_at;
ALTER TABLE runs DROP COLUMN slack_channel;
ALTER TABLE runs DROP COLUMN slack_ts;
ALTER TABLE runs DROP COLUMN slack_parts;
