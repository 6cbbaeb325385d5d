-- Runs that wait, in a line for each agent as it was when they were made: a claim looks at the first of each.
CREATE INDEX runs_waiting ON runs (agent, definition_hash, seq, label, entity, practice) WHERE state = 'queued';
-- Runs that count for the day of an agent.
CREATE INDEX runs_started ON runs (agent, started_at, state, woken_by) WHERE started_at IS NOT NULL;
