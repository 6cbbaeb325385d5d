-- In which form firings are posted: NULL, as the address says by its host, else in svc's own.
ALTER TABLE subscriptions ADD COLUMN format TEXT;
