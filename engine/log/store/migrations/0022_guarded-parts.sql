-- Parts that may not be deleted until their catalog file no longer says prevent_destroy.
CREATE TABLE guarded_parts (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
