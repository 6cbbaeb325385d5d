-- Credentials of kind app: token is the sealed private key, app what is not secret of it, as JSON.
ALTER TABLE credentials ADD COLUMN app TEXT CHECK (app IS NULL OR json_valid(app));
