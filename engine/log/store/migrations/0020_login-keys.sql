-- Keys that a person let a machine have (svc login), told from those that a key made: a session opened with
-- one of them is a person's. Of those there are nobody knows, so they are none until the next login.
ALTER TABLE keys ADD COLUMN is_login INTEGER NOT NULL DEFAULT 0;
