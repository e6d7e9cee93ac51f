-- Whose turn an announcement takes, and whom its work occupies besides: accounts take turns in a shared queue.
-- A version that knows neither writes the empty text, which counts as one account.
ALTER TABLE outbox
  ADD COLUMN account text NOT NULL DEFAULT '',
  ADD COLUMN target text NOT NULL DEFAULT '';
CREATE INDEX outbox_turns ON outbox (topic, account, due_at, id) WHERE done_at IS NULL AND failed_at IS NULL;

-- How many runs of an account wait.
CREATE INDEX run_waiting ON run (user_id, environment) WHERE status = 'queued';
