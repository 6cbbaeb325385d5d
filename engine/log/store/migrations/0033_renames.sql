-- Names that parts had before, by the change-set that gave them another: the record of changes keeps what was written under them.
CREATE TABLE renames (
  change_set INTEGER NOT NULL REFERENCES change_sets (id),
  seq INTEGER NOT NULL,             -- order in it
  kind TEXT NOT NULL,
  name_from TEXT NOT NULL,
  name_to TEXT NOT NULL,
  PRIMARY KEY (change_set, seq)
) WITHOUT ROWID;
-- How a part is kept like its catalog file where a repository is followed; of one that is not here the policy says it.
CREATE TABLE part_syncs (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  mode TEXT NOT NULL,               -- enforce, warn or adopt
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
