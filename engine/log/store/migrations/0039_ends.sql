-- How far ahead of now the window ends, in ms, that says whether a key is over: as far as the sender's clock was.
ALTER TABLE active_keys ADD COLUMN lead INTEGER NOT NULL DEFAULT 0;

-- What a subscription went with, so that undoing that brings it back: trigger or project; null: it was removed by itself.
ALTER TABLE subscriptions ADD COLUMN removed_with TEXT;
