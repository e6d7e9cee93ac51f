CREATE TYPE checkout_state AS ENUM ('active', 'paused', 'expired');
CREATE TYPE checkout_lifetime AS ENUM ('temporary', 'persistent');
CREATE TYPE checkout_response_mode AS ENUM ('immediately', 'lastNode');
CREATE TYPE checkout_payment_state AS ENUM ('created', 'settling', 'paid', 'failed');

-- A price on a workflow. Never removed: its link comes back to life with its workflow.
CREATE TABLE checkout (
  id text PRIMARY KEY,
  user_id text NOT NULL,
  environment environment NOT NULL,
  state checkout_state NOT NULL DEFAULT 'active',
  lifetime checkout_lifetime NOT NULL,
  leased_until timestamptz(3),
  callback_url text NOT NULL,
  product_name text NOT NULL,
  product_description text,
  price bigint NOT NULL CHECK (price > 0),
  network text NOT NULL,
  recipient text,
  fields json NOT NULL,
  redirect_url text,
  test_mode boolean NOT NULL,
  response_mode checkout_response_mode NOT NULL,
  preflight boolean NOT NULL,
  redeliver_unconfirmed boolean NOT NULL,
  source_instance text,
  source_workflow text,
  source_node text,
  missing integer NOT NULL DEFAULT 0,
  probe_at timestamptz(3),
  paused_at timestamptz(3),
  expired_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  -- Only where nothing is charged can nobody be paid.
  CHECK (recipient IS NOT NULL OR test_mode),
  CHECK ((lifetime = 'temporary') = (leased_until IS NOT NULL)),
  CHECK (num_nonnulls(source_instance, source_workflow, source_node) IN (0, 3)),
  CHECK ((state = 'paused') = (paused_at IS NOT NULL)),
  CHECK ((state = 'paused') = (probe_at IS NOT NULL)),
  CHECK ((state = 'expired') = (expired_at IS NOT NULL))
) WITH (fillfactor = 80);
-- One for each place and lifetime, whatever its state: the same link comes back. Places that are not named differ.
CREATE UNIQUE INDEX checkout_source ON checkout
  (user_id, environment, source_instance, source_workflow, source_node, lifetime);
CREATE INDEX checkout_owner ON checkout (user_id, environment, id DESC);
CREATE INDEX checkout_leases ON checkout (leased_until) WHERE lifetime = 'temporary' AND state <> 'expired';
CREATE INDEX checkout_probes ON checkout (probe_at) WHERE state = 'paused';

-- One thing that was sold. Whoever presents the same authorization again finds it by the digest.
CREATE TABLE checkout_payment (
  id text PRIMARY KEY,
  checkout_id text NOT NULL REFERENCES checkout (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  user_id text NOT NULL,
  environment environment NOT NULL,
  state checkout_payment_state NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  network text NOT NULL,
  recipient text,
  payer text NOT NULL,
  simulated boolean NOT NULL,
  digest bytea CHECK (length(digest) = 32),
  request json,
  input json NOT NULL,
  input_hash bytea NOT NULL CHECK (length(input_hash) = 32),
  tx_hash text,
  reason text,
  resume_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  -- A simulated one has nothing to do with a chain, and no other is paid without its transaction.
  CHECK (simulated = (digest IS NULL)),
  CHECK (simulated = (request IS NULL)),
  CHECK (simulated OR recipient IS NOT NULL),
  CHECK (simulated <= (state = 'paid')),
  CHECK ((state = 'paid') = (tx_hash IS NOT NULL)),
  CHECK ((state = 'failed') = (reason IS NOT NULL)),
  CHECK ((state IN ('paid', 'failed')) = (ended_at IS NOT NULL)),
  CHECK ((state IN ('paid', 'failed')) = (resume_at IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX checkout_payment_digest_key ON checkout_payment (digest);
CREATE INDEX checkout_payment_checkout_id_id_idx ON checkout_payment (checkout_id, id DESC);
-- What waits for the chain's word, also when whoever asked for it is gone.
CREATE INDEX checkout_payment_open ON checkout_payment (resume_at) WHERE state IN ('created', 'settling');

-- What authorizations were spent on, in checkouts and everywhere else: the digest is sold for once.
CREATE TABLE facilitator_purchase (
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  buys text NOT NULL,
  bought_at timestamptz(3) NOT NULL
);
