-- Calls of models that were cut off while they answered Ask, and may have been paid: they count for the day's budget.
CREATE TABLE ask_cut_calls (
  at INTEGER NOT NULL,
  usd REAL NOT NULL                 -- what was reserved
);
