-- The console's sessions, so that a restart does not ask for the token again. Only hashes: neither
-- the cookie nor the token can be made from a row.
CREATE TABLE sessions (
  id_hash TEXT PRIMARY KEY,       -- lower-case hex SHA-256 of the cookie's value
  token_hash TEXT NOT NULL,       -- of the token it was opened with: the session ends with it
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
