-- All money that leaves an account is one counter: withdrawals, payments to addresses outside, refunds.
CREATE TABLE outflow (
  id text PRIMARY KEY,
  environment environment NOT NULL,
  user_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('withdrawal', 'pay', 'refund')),
  recipient bytea NOT NULL CHECK (length(recipient) = 20),
  amount bigint NOT NULL CHECK (amount >= 0),
  at timestamptz(3) NOT NULL,
  returned_at timestamptz(3)
);
CREATE INDEX outflow_environment_at_idx ON outflow (environment, at);
CREATE INDEX outflow_environment_user_id_kind_at_idx ON outflow (environment, user_id, kind, at);
CREATE INDEX outflow_at_id_idx ON outflow (at, id);

-- Sums in steps of ten minutes, so that a check reads a bounded number of rows.
CREATE TABLE outflow_step (
  account text NOT NULL,
  step timestamptz(3) NOT NULL,
  amount bigint NOT NULL CHECK (amount >= 0),
  PRIMARY KEY (account, step)
);
CREATE INDEX outflow_step_step_account_idx ON outflow_step (step, account);

CREATE TABLE outflow_switch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  paused boolean NOT NULL,
  changed_at timestamptz(3) NOT NULL
);

-- What left in the last day, or is on its way, counts from the first moment.
INSERT INTO outflow (id, environment, user_id, kind, recipient, amount, at)
SELECT id, environment, user_id, 'withdrawal', recipient, amount, created_at FROM wallet_withdrawal
WHERE state <> 'failed' AND created_at > now() - interval '25 hours'
UNION ALL
SELECT id, environment, user_id, 'pay', decode(substr(pay_to, 3), 'hex'), amount, created_at FROM spending_payment
WHERE state <> 'returned' AND created_at > now() - interval '25 hours';

INSERT INTO outflow_step (account, step, amount)
SELECT account, step, sum(amount)::bigint
FROM outflow
CROSS JOIN LATERAL (VALUES (environment || '/' || user_id), (environment || '/')) AS of(account)
CROSS JOIN LATERAL (SELECT to_timestamp(floor(extract(epoch FROM at) / 600) * 600) AS step) AS s
GROUP BY account, step;
