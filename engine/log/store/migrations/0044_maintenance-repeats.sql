-- Maintenance that begins again: at the times of a cron expression, for as long each time.
ALTER TABLE maintenance_windows ADD COLUMN cron TEXT;
ALTER TABLE maintenance_windows ADD COLUMN time_zone TEXT;
-- How long each lasts, such as 2h.
ALTER TABLE maintenance_windows ADD COLUMN lasts TEXT;
-- The beginning of the one whose end somebody moved, and that end.
ALTER TABLE maintenance_windows ADD COLUMN moved_from INTEGER;
ALTER TABLE maintenance_windows ADD COLUMN moved_until INTEGER;
