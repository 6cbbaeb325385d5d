-- Tokens of other systems, stored once and named by whoever uses them.
CREATE TABLE credentials (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  token TEXT NOT NULL,              -- sealed
  api_url TEXT NOT NULL,            -- what the token is for, and is sent to
  account TEXT,                     -- as the other system named it
  expires_at INTEGER,               -- epoch ms, as it said
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL       -- when the token was stored
);
