-- Runs that wait for a model that is not to be had, and what the cache of a provider saved.
ALTER TABLE runs ADD COLUMN parked_since INTEGER;   -- of the first fault since a reply; null: its model answers
ALTER TABLE runs ADD COLUMN parked_until INTEGER;   -- its model is tried again
ALTER TABLE runs ADD COLUMN parked_why TEXT;
ALTER TABLE runs ADD COLUMN parked_times INTEGER NOT NULL DEFAULT 0; -- since a reply
ALTER TABLE runs ADD COLUMN cancelled_by TEXT;
ALTER TABLE runs ADD COLUMN cache_saved_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN fallback TEXT;          -- JSON: what should have answered the last call; null: it did
ALTER TABLE runs ADD COLUMN assumed_usd REAL NOT NULL DEFAULT 0; -- of calls that were cut off: what they may have cost
ALTER TABLE runs ADD COLUMN assumed_at INTEGER;
CREATE INDEX runs_assumed ON runs (agent, assumed_at) WHERE assumed_usd > 0;
DROP INDEX runs_open;
CREATE INDEX runs_open ON runs (state, seq) WHERE state IN ('queued', 'running', 'parked');
CREATE INDEX runs_parked ON runs (parked_until) WHERE state = 'parked';
