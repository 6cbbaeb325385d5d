-- Whether a finding is right, as somebody marked it afterwards.
ALTER TABLE runs ADD COLUMN mark TEXT CHECK (mark IN ('right', 'wrong', 'partly'));
ALTER TABLE runs ADD COLUMN mark_note TEXT;
ALTER TABLE runs ADD COLUMN mark_cause TEXT;  -- id of the event that was the true cause
ALTER TABLE runs ADD COLUMN marked_at INTEGER;
ALTER TABLE runs ADD COLUMN marked_by TEXT;
