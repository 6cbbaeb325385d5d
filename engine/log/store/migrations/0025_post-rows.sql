-- Blocks of postings as rows with a key beside them: in a table that is its own index SQLite puts whole blocks of
-- 8 kB together, page by page, for each key that it compares, which took most of a look-up.
CREATE TABLE post_rows (
  seg INTEGER NOT NULL,
  last_label INTEGER NOT NULL,           -- largest label id in the block
  data BLOB NOT NULL
);
INSERT INTO post_rows SELECT seg, last_label, data FROM post ORDER BY seg, last_label;
DROP TABLE post;
ALTER TABLE post_rows RENAME TO post;
CREATE UNIQUE INDEX post_key ON post (seg, last_label);
