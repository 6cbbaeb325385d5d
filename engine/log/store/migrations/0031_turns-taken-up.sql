-- Who asked, and what was said before where the caller gave it, so that a turn of Ask is taken up after a restart.
ALTER TABLE ask_turns ADD COLUMN asked_as TEXT CHECK (asked_as IS NULL OR json_valid(asked_as)); -- {asker: {name, scopes}, given}
