-- Runs of one incident: those that one trigger woke for one entity, while it was not quiet for long
-- (engine/runs/same-incident.ts).
ALTER TABLE runs ADD COLUMN incident TEXT;   -- id of its first chain; of what no trigger woke its own
ALTER TABLE runs ADD COLUMN wake_key TEXT;   -- trigger and entity as JSON; null: no incident goes on in it
ALTER TABLE runs ADD COLUMN woke_at INTEGER; -- of the last firing it answers
UPDATE runs SET incident = root_run_id;
CREATE INDEX runs_incident ON runs (incident, seq);
CREATE INDEX runs_wake ON runs (wake_key, woke_at) WHERE wake_key IS NOT NULL;
