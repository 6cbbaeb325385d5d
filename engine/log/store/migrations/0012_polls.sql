-- Where the reading of each source that is polled stands, and how it goes. A row is made with its
-- source and kept when that is deleted, for a deletion can be undone.
CREATE TABLE polls (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id),
  cursor TEXT,                      -- of the last poll that was stored; null: none was
  next_at INTEGER NOT NULL,         -- when the next is due
  last_poll_at INTEGER,
  last_ok_at INTEGER,
  last_error TEXT,                  -- of the last poll, if it failed
  consecutive_errors INTEGER NOT NULL DEFAULT 0,
  notice TEXT,                      -- what the last poll that worked had to say
  restarted TEXT                    -- why reading began anew, until the source is edited again
);
CREATE INDEX polls_due ON polls (next_at);
