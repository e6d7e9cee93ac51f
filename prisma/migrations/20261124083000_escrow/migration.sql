-- What is asked of the escrow, as settlements: a version that does not know these columns claims plain transfers only. It
-- takes nothing of the escrow, because that is reserved (`taken_until` is infinity) for the operator.
CREATE TYPE facilitator_operation AS ENUM ('authorize', 'capture', 'void');
ALTER TABLE facilitator_settlement
  ADD COLUMN operation facilitator_operation,
  ADD COLUMN operator bytea CHECK (length(operator) = 20),
  ADD COLUMN payment_hash bytea CHECK (length(payment_hash) = 32),
  ADD COLUMN busy bytea,
  ADD COLUMN recipient bytea CHECK (length(recipient) = 20),
  ADD COLUMN call_data bytea;
-- All of them or none.
ALTER TABLE facilitator_settlement ADD CONSTRAINT facilitator_settlement_operation CHECK (
  num_nulls(operation, operator, payment_hash, recipient, call_data) IN (0, 5) AND (busy IS NULL OR busy = payment_hash)
) NOT VALID;
ALTER TABLE facilitator_settlement VALIDATE CONSTRAINT facilitator_settlement_operation;
-- One operation on a payment at a time: a second capture could be signed for the same state as the first one.
CREATE UNIQUE INDEX facilitator_settlement_busy ON facilitator_settlement (busy) WHERE busy IS NOT NULL;
CREATE INDEX facilitator_settlement_payment ON facilitator_settlement (payment_hash) WHERE payment_hash IS NOT NULL;
