-- Firings that are fetched instead of posted: whoever fetched one holds it until its lease ends.
ALTER TABLE deliveries ADD COLUMN lease TEXT;           -- hex SHA-256 of what the holder was given
ALTER TABLE deliveries ADD COLUMN held_since INTEGER;
ALTER TABLE deliveries ADD COLUMN lease_until INTEGER;  -- of one that is held
CREATE INDEX deliveries_leases ON deliveries (lease_until) WHERE lease_until IS NOT NULL;
