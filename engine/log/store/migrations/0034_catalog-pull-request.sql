-- The pull request that brings what was changed by hand into the files (engine/reconcile), as JSON.
ALTER TABLE catalog_syncs ADD COLUMN pull_request TEXT CHECK (pull_request IS NULL OR json_valid(pull_request));
