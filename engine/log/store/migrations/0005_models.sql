-- What an operator sets in the console, and what models were used for.

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),  -- secrets in it sealed
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- One row per run or turn; what it cost is stored once and never worked out again.
CREATE TABLE model_usage (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  surface TEXT NOT NULL,            -- agent or ask
  agent TEXT,
  run_id TEXT,
  practice INTEGER NOT NULL DEFAULT 0,
  model TEXT NOT NULL,              -- named in the reply
  provider TEXT NOT NULL,
  key_source TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_creation_input_tokens INTEGER NOT NULL,
  cache_read_input_tokens INTEGER NOT NULL,
  cost_usd REAL                     -- null: uncosted
);
CREATE INDEX model_usage_at ON model_usage (at);
