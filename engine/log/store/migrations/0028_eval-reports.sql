-- Reports of svc evals that were handed in, for the console: the newest of them, as many as fit.
CREATE TABLE eval_reports (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  handed_in_at INTEGER NOT NULL,    -- epoch ms
  handed_in_by TEXT NOT NULL,
  summary TEXT NOT NULL,            -- JSON: what lists show of it
  report BLOB NOT NULL              -- JSON, gzip
);
