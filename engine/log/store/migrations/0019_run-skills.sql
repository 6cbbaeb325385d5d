-- Skills that runs loaded, in order; those of runs until now are on their tapes.
ALTER TABLE runs ADD COLUMN skills TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(skills));

UPDATE runs SET skills = (
  SELECT json_group_array(name) FROM (
    SELECT trim(json_extract(s.data, '$.call.arguments.name')) AS name FROM run_steps s
    WHERE s.run_id = runs.id AND s.kind = 'tool' AND lower(trim(json_extract(s.data, '$.call.name'))) = 'skill'
      AND json_extract(s.data, '$.server') IS NULL AND NOT coalesce(json_extract(s.data, '$.is_error'), 0)
      AND json_type(s.data, '$.call.arguments.name') = 'text'
    GROUP BY name ORDER BY min(s.n)))
WHERE EXISTS (SELECT 1 FROM run_steps s WHERE s.run_id = runs.id AND s.kind = 'tool'
  AND lower(trim(json_extract(s.data, '$.call.name'))) = 'skill');
