-- Clients that people sign in by OAuth 2.1 (docs/telemetry.md): what registered, who consented to what, and tokens by
-- their SHA-256 alone. Authorization codes are in memory.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL CHECK (json_valid(redirect_uris)),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL          -- registered, or last asked for a token
) WITHOUT ROWID;
CREATE TABLE oauth_grants (
  id TEXT PRIMARY KEY,
  client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
  approver TEXT NOT NULL,           -- who consented: env:auth or key:<id>
  approver_hash TEXT NOT NULL,      -- of the credential of that person's session: the grant ends with it
  resource TEXT NOT NULL,           -- address of the server that its tokens are for (RFC 8707)
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);
CREATE TABLE oauth_tokens (
  hash TEXT PRIMARY KEY,            -- lower-case hex SHA-256
  grant_id TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at INTEGER NOT NULL,
  spent_at INTEGER                  -- of a refresh token that was exchanged: whoever shows it again ends the grant
) WITHOUT ROWID;
CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
