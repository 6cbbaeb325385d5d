-- Slack as a place of work: threads of incidents and proposals, what was posted in them, requests of Slack that were
-- taken, and questions that are answered there.
CREATE TABLE slack_threads (
  id INTEGER PRIMARY KEY,
  incident_id INTEGER REFERENCES incidents (id) ON DELETE CASCADE,
  proposal_id TEXT,                 -- one of both
  channel TEXT NOT NULL,            -- id of the channel
  address TEXT NOT NULL,            -- of the channel, as the subscription or the agent says it
  ts TEXT NOT NULL,                 -- of the message that heads it; empty: it is to be posted
  permalink TEXT,
  made_at INTEGER NOT NULL,
  root TEXT NOT NULL CHECK (json_valid(root)), -- the message without where its incident stands
  run_id TEXT,                      -- whose finding the message shows
  told INTEGER NOT NULL,            -- last row of the activity that the thread has
  telling INTEGER,                  -- a reply up to this row was being posted: whether it is there is not known
  shown TEXT,                       -- digest of the message as it was posted last
  shown_at INTEGER,
  touched INTEGER NOT NULL DEFAULT 0, -- counts what happened to its subject
  due_at INTEGER,                   -- to be brought up to date; null: it is
  tries INTEGER NOT NULL DEFAULT 0,
  problem TEXT                      -- why it could not be brought up to date
);
CREATE UNIQUE INDEX slack_threads_incident ON slack_threads (incident_id, channel) WHERE incident_id IS NOT NULL;
CREATE UNIQUE INDEX slack_threads_proposal ON slack_threads (proposal_id, channel) WHERE proposal_id IS NOT NULL;
CREATE INDEX slack_threads_message ON slack_threads (channel, ts);
CREATE INDEX slack_threads_due ON slack_threads (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE slack_posts (
  thread_id INTEGER NOT NULL REFERENCES slack_threads (id) ON DELETE CASCADE,
  ts TEXT NOT NULL,
  kind TEXT NOT NULL,               -- opened, firing, finding, activity
  ref TEXT,                         -- delivery or run
  permalink TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (thread_id, ts)
) WITHOUT ROWID;

CREATE TABLE slack_requests (
  id TEXT PRIMARY KEY,              -- that Slack gave the event, command or button press
  at INTEGER NOT NULL,
  done_at INTEGER                   -- null: it is under way, or the daemon was stopped meanwhile
) WITHOUT ROWID;
CREATE INDEX slack_requests_at ON slack_requests (at);

CREATE TABLE slack_answers (
  turn TEXT PRIMARY KEY,
  person TEXT NOT NULL,             -- team and user
  name TEXT NOT NULL,
  channel TEXT NOT NULL,
  thread_ts TEXT,                   -- null: the message that heads the thread is to be posted
  ts TEXT,                          -- of the answer, once it is there
  question TEXT NOT NULL,
  answer TEXT,                      -- null: it is being answered
  at INTEGER NOT NULL,
  state TEXT NOT NULL               -- answering, answered, failed
) WITHOUT ROWID;
CREATE INDEX slack_answers_person ON slack_answers (person, at);
CREATE INDEX slack_answers_thread ON slack_answers (channel, thread_ts, at);
CREATE INDEX slack_answers_open ON slack_answers (at) WHERE state = 'answering';

-- A delivery to Slack was cut off: whether the message is there is not known, so it is looked for before it is sent again.
ALTER TABLE deliveries ADD COLUMN was_cut INTEGER NOT NULL DEFAULT 0;
