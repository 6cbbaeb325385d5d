-- The firing that an incident is titled by: the first of the most severe. Null: the trigger in plain words.
ALTER TABLE incidents ADD COLUMN titled_by INTEGER;
UPDATE incidents SET titled_by = (
  SELECT f.id FROM firings f WHERE f.incident_id = incidents.id AND f.resolves IS NULL ORDER BY f.fired_at, f.id LIMIT 1
);
