-- How many transactions have been committed. The witness beside the data file (store/witness.ts) has the
-- same number: where it has more after a start, commits that were acknowledged are missing.
CREATE TABLE commits (n INTEGER NOT NULL) STRICT;
INSERT INTO commits VALUES (0);
