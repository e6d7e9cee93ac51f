-- What goes to another account of this server is counted too. An account that sells has no address.
ALTER TABLE outflow
  ALTER COLUMN recipient DROP NOT NULL,
  DROP CONSTRAINT outflow_kind_check,
  ADD CONSTRAINT outflow_kind CHECK (kind IN ('withdrawal', 'pay', 'refund', 'account')),
  ADD CONSTRAINT outflow_recipient CHECK (recipient IS NOT NULL OR kind = 'account');
