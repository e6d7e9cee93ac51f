-- Numbers begin at 0, as every wallet program counts the addresses of an account.
CREATE SEQUENCE wallet_address_index_seq AS integer MINVALUE 0 START 0;
CREATE TABLE wallet_address (
  index integer PRIMARY KEY DEFAULT nextval('wallet_address_index_seq'),
  account text NOT NULL,
  environment environment NOT NULL,
  user_id text NOT NULL,
  address bytea NOT NULL CHECK (length(address) = 20),
  created_at timestamptz(3) NOT NULL
);
ALTER SEQUENCE wallet_address_index_seq OWNED BY wallet_address.index;
CREATE UNIQUE INDEX wallet_address_address_key ON wallet_address (address);
CREATE UNIQUE INDEX wallet_address_user_id_environment_key ON wallet_address (user_id, environment);

-- The primary key is what makes the detectors' race harmless: whoever comes second finds the row.
CREATE TABLE wallet_deposit (
  network text NOT NULL,
  transaction_hash bytea NOT NULL CHECK (length(transaction_hash) = 32),
  place integer NOT NULL CHECK (place >= 0),
  address bytea NOT NULL CHECK (length(address) = 20),
  environment environment NOT NULL,
  user_id text NOT NULL,
  sender bytea NOT NULL CHECK (length(sender) = 20),
  value bigint NOT NULL CHECK (value > 0),
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  act text NOT NULL,
  at timestamptz(3) NOT NULL,
  gone_at timestamptz(3),
  PRIMARY KEY (network, transaction_hash, place)
);
CREATE INDEX wallet_deposit_network_block_number_idx ON wallet_deposit (network, block_number);
CREATE INDEX wallet_deposit_address_idx ON wallet_deposit (address);

CREATE TABLE wallet_word (
  transaction_hash bytea PRIMARY KEY,
  user_id text NOT NULL
);

CREATE TABLE wallet_cursor (
  network text PRIMARY KEY,
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  head bigint NOT NULL,
  at timestamptz(3) NOT NULL
);

CREATE TYPE wallet_withdrawal_state AS ENUM ('pending', 'submitted', 'confirmed', 'failed');
CREATE TABLE wallet_withdrawal (
  id text PRIMARY KEY,
  environment environment NOT NULL,
  user_id text NOT NULL,
  network text NOT NULL,
  recipient bytea NOT NULL CHECK (length(recipient) = 20),
  amount bigint NOT NULL CHECK (amount > 0),
  state wallet_withdrawal_state NOT NULL DEFAULT 'pending',
  nonce bytea NOT NULL CHECK (length(nonce) = 32),
  payer bytea CHECK (length(payer) = 20),
  valid_before bigint,
  seen_block bigint,
  simulated boolean NOT NULL DEFAULT false,
  transaction_hash bytea,
  block_number bigint,
  reason text,
  created_at timestamptz(3) NOT NULL,
  submitted_at timestamptz(3),
  ended_at timestamptz(3),
  -- What was never submitted has no authorization; what ended says when, and a failure says why.
  CONSTRAINT wallet_withdrawal_submitted CHECK (state NOT IN ('submitted', 'confirmed') OR (submitted_at IS NOT NULL AND (simulated OR (valid_before IS NOT NULL AND payer IS NOT NULL AND seen_block IS NOT NULL)))),
  CONSTRAINT wallet_withdrawal_ended CHECK ((state IN ('confirmed', 'failed')) = (ended_at IS NOT NULL)),
  CONSTRAINT wallet_withdrawal_reason CHECK ((state = 'failed') = (reason IS NOT NULL))
);
CREATE UNIQUE INDEX wallet_withdrawal_nonce_key ON wallet_withdrawal (nonce);
CREATE INDEX wallet_withdrawal_user_id_environment_created_at_idx ON wallet_withdrawal (user_id, environment, created_at DESC);
CREATE INDEX wallet_withdrawal_open ON wallet_withdrawal (created_at) WHERE state IN ('pending', 'submitted');
-- For the platform's limit of a day.
CREATE INDEX wallet_withdrawal_recent ON wallet_withdrawal (environment, created_at) INCLUDE (amount) WHERE state <> 'failed';

-- An authorization that was stored is the only one: its terms never change, and an end is final.
CREATE FUNCTION wallet_withdrawal_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state IN ('confirmed', 'failed') THEN
    RAISE EXCEPTION 'the withdrawal % has ended', OLD.id;
  END IF;
  IF (NEW.id, NEW.environment, NEW.user_id, NEW.network, NEW.recipient, NEW.amount, NEW.nonce)
     IS DISTINCT FROM (OLD.id, OLD.environment, OLD.user_id, OLD.network, OLD.recipient, OLD.amount, OLD.nonce)
     OR (OLD.valid_before IS NOT NULL AND (NEW.payer, NEW.valid_before) IS DISTINCT FROM (OLD.payer, OLD.valid_before)) THEN
    RAISE EXCEPTION 'the terms of the withdrawal % are fixed', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER wallet_withdrawal_ends_once BEFORE UPDATE ON wallet_withdrawal
  FOR EACH ROW EXECUTE FUNCTION wallet_withdrawal_ends_once();

CREATE TYPE wallet_sweep_state AS ENUM ('open', 'settled', 'failed');
CREATE TABLE wallet_sweep (
  id bigserial PRIMARY KEY,
  network text NOT NULL,
  address_index integer NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  nonce bytea NOT NULL CHECK (length(nonce) = 32),
  valid_before bigint NOT NULL,
  state wallet_sweep_state NOT NULL DEFAULT 'open',
  transaction_hash bytea,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3)
);
CREATE UNIQUE INDEX wallet_sweep_nonce_key ON wallet_sweep (nonce);
CREATE INDEX wallet_sweep_address_index_idx ON wallet_sweep (address_index);
CREATE UNIQUE INDEX wallet_sweep_one_open ON wallet_sweep (network, address_index) WHERE state = 'open';

CREATE TABLE wallet_reconciliation (
  id bigserial PRIMARY KEY,
  network text NOT NULL,
  block_number bigint NOT NULL,
  at timestamptz(3) NOT NULL,
  wallets bigint NOT NULL,
  revenue bigint NOT NULL,
  capital bigint NOT NULL,
  treasury bigint NOT NULL,
  deposit_addresses bigint NOT NULL,
  payers bigint NOT NULL,
  in_flight bigint NOT NULL,
  difference bigint NOT NULL,
  CONSTRAINT wallet_reconciliation_sum CHECK (difference = treasury + deposit_addresses + payers + in_flight - wallets - revenue - capital)
);
CREATE INDEX wallet_reconciliation_network_id_idx ON wallet_reconciliation (network, id DESC);

CREATE TABLE wallet_alert (
  user_id text NOT NULL,
  environment environment NOT NULL,
  below bigint NOT NULL CHECK (below > 0),
  alerted_at timestamptz(3),
  PRIMARY KEY (user_id, environment)
);
