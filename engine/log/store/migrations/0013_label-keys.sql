-- Labels are found by name and value in label_keys, which follows labels in batches: with an index, each
-- new label would change a page of its own, as many bytes as ten events. Those that have no key yet are
-- in memory (store/dictionary.ts).
CREATE TABLE label_rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL);
INSERT INTO label_rows (id, name, value) SELECT id, name, value FROM labels;
DROP TABLE labels;
ALTER TABLE label_rows RENAME TO labels;

CREATE TABLE label_keys (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (name, value)
) WITHOUT ROWID;
INSERT INTO label_keys (name, value, id) SELECT name, value, id FROM labels ORDER BY name, value;

-- One row: labels up to this id have their key.
CREATE TABLE labels_keyed (through INTEGER NOT NULL);
INSERT INTO labels_keyed (through) SELECT coalesce(max(id), 0) FROM labels;

-- Every label, each once, whether it has its key or not.
CREATE VIEW named_labels (id, name, value) AS
SELECT id, name, value FROM label_keys
UNION ALL
SELECT id, name, value FROM labels WHERE id > (SELECT through FROM labels_keyed);
