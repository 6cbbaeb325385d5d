-- When what had no time of its own happened, so that a replay can say it (engine/graph/replay).

ALTER TABLE firings ADD COLUMN held_at INTEGER;      -- a limit began to hold it back
ALTER TABLE firings ADD COLUMN dropped_at INTEGER;
ALTER TABLE runs ADD COLUMN delivery_at INTEGER;     -- its write-back was last tried

-- Bursts by when they began; a firing that fires at once is found by when it fired.
CREATE INDEX firings_bursts ON firings (trigger_id, opened_at) WHERE fired_at IS NULL OR fired_at > opened_at;
CREATE INDEX evaluations_at ON evaluations (trigger_id, at);
CREATE INDEX deliveries_run ON deliveries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX delivery_tries_at ON delivery_tries (at);
CREATE INDEX runs_written_back ON runs (delivery_at) WHERE delivery_at IS NOT NULL;
CREATE INDEX change_sets_at ON change_sets (at);
