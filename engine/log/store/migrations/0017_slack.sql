-- Findings posted to Slack, beside the write-back of their run.
ALTER TABLE runs ADD COLUMN slack TEXT;             -- pending, ok or failed; null: it goes to no channel
ALTER TABLE runs ADD COLUMN slack_error TEXT;
ALTER TABLE runs ADD COLUMN slack_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN slack_due_at INTEGER;
ALTER TABLE runs ADD COLUMN slack_channel TEXT;     -- id of the channel it was posted in
ALTER TABLE runs ADD COLUMN slack_ts TEXT;          -- of the message, which its thread hangs on
ALTER TABLE runs ADD COLUMN slack_parts INTEGER NOT NULL DEFAULT 0; -- of the thread, that were posted
CREATE INDEX runs_slack ON runs (slack_due_at) WHERE slack = 'pending';
