-- Each catalog file is remembered by its own name, so that importing one says nothing of another.
CREATE TABLE catalog_files (name TEXT PRIMARY KEY, text TEXT NOT NULL, imported_at INTEGER NOT NULL);
INSERT INTO catalog_files (name, text, imported_at) SELECT 'catalog', text, imported_at FROM catalog_file;
DROP TABLE catalog_file;
