-- Tools of external MCP servers as they were first seen or last approved, so that a server that says
-- something else later is noticed.
CREATE TABLE mcp_tools (
  server TEXT NOT NULL,
  tool TEXT NOT NULL,                -- as the server calls it
  hash TEXT NOT NULL,                -- pinned: SHA-256 of description, schema and read-only mark
  description TEXT NOT NULL,
  input TEXT NOT NULL CHECK (json_valid(input)),
  read_only INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  gone_at INTEGER,                   -- no longer listed since
  changed_hash TEXT,                 -- what it says now, where that is not what was pinned
  changed_description TEXT,
  changed_input TEXT,
  changed_read_only INTEGER,
  changed_at INTEGER,
  approved_at INTEGER,
  approved_by TEXT,
  PRIMARY KEY (server, tool)
);
