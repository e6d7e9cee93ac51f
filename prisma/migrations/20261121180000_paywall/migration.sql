CREATE TYPE paywall_status AS ENUM ('active', 'paused');
CREATE TYPE paywall_payment_kind AS ENUM ('request', 'balance');
CREATE TYPE paywall_payment_state AS ENUM ('calling', 'released', 'settling', 'paid', 'failed');
CREATE TYPE paywall_delivery AS ENUM ('none', 'begun', 'whole');

-- A price on somebody's HTTP API. Never removed while payments speak of it: only its address ends.
CREATE TABLE paywall (
  id text PRIMARY KEY,
  user_id text NOT NULL,
  environment environment NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  upstream_url text NOT NULL,
  routes json NOT NULL,
  recipient text,
  network text NOT NULL,
  test_mode boolean NOT NULL,
  status paywall_status NOT NULL,
  milestones bigint[] NOT NULL,
  header_names text[] NOT NULL,
  headers_sealed text NOT NULL,
  secret_sealed text NOT NULL,
  version integer NOT NULL,
  earlier json NOT NULL,
  revenue bigint NOT NULL DEFAULT 0 CHECK (revenue >= 0),
  customers integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  removed_at timestamptz(3),
  -- Only where nothing is charged can nobody be paid.
  CHECK (recipient IS NOT NULL OR test_mode)
) WITH (fillfactor = 70);
-- In all environments: a gate's address knows no key. A removed one gives its slug back.
CREATE UNIQUE INDEX paywall_slug ON paywall (slug) WHERE removed_at IS NULL;
CREATE INDEX paywall_owner ON paywall (user_id, environment, id DESC);

-- One authorization, and what it buys. Whoever presents it again finds it by the digest.
CREATE TABLE paywall_payment (
  id text PRIMARY KEY,
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  user_id text NOT NULL,
  environment environment NOT NULL,
  kind paywall_payment_kind NOT NULL,
  state paywall_payment_state NOT NULL,
  route text NOT NULL,
  endpoint text NOT NULL,
  amount bigint NOT NULL CHECK (amount >= 0),
  network text NOT NULL,
  recipient text,
  payer text NOT NULL,
  simulated boolean NOT NULL,
  digest bytea CHECK (length(digest) = 32),
  request json,
  line_hash bytea NOT NULL CHECK (length(line_hash) = 32),
  body_hash bytea CHECK (length(body_hash) = 32),
  token_hash bytea CHECK (length(token_hash) = 32),
  window_start timestamptz(3),
  cost bigint CHECK (cost BETWEEN 0 AND amount),
  tx_hash text,
  reason text,
  delivery paywall_delivery NOT NULL,
  lease_until timestamptz(3),
  resume_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  -- A simulated one has nothing to do with a chain, and no other is paid without its transaction.
  CHECK (simulated = (digest IS NULL)),
  CHECK (simulated OR (recipient IS NOT NULL AND amount > 0)),
  CHECK (simulated <= (state = 'paid')),
  CHECK ((state = 'paid') = (tx_hash IS NOT NULL)),
  CHECK ((state = 'failed') = (reason IS NOT NULL)),
  CHECK ((state IN ('paid', 'failed')) = (ended_at IS NOT NULL)),
  -- The chain's word is waited for by a sweeper too.
  CHECK ((state = 'settling') = (resume_at IS NOT NULL)),
  -- No byte of an answer goes out before it is paid for.
  CHECK (delivery = 'none' OR state = 'paid')
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX paywall_payment_digest_key ON paywall_payment (digest);
CREATE INDEX paywall_payment_paywall_id_id_idx ON paywall_payment (paywall_id, id DESC);
CREATE INDEX paywall_payment_open ON paywall_payment (resume_at) WHERE state = 'settling';
CREATE INDEX paywall_payment_lost ON paywall_payment (lease_until) WHERE state = 'calling';

-- Kept until it was delivered whole, ten minutes at most.
CREATE TABLE paywall_answer (
  payment_id text PRIMARY KEY REFERENCES paywall_payment (id) ON DELETE CASCADE ON UPDATE RESTRICT,
  status integer NOT NULL,
  headers json NOT NULL,
  body bytea NOT NULL,
  kept_at timestamptz(3) NOT NULL
);
CREATE INDEX paywall_answer_kept_at_idx ON paywall_answer (kept_at);

-- Who has paid at a paywall.
CREATE TABLE paywall_customer (
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  payer text NOT NULL,
  payments integer NOT NULL,
  revenue bigint NOT NULL,
  first_at timestamptz(3) NOT NULL,
  PRIMARY KEY (paywall_id, payer)
);

-- Where a customer stands in a tiered price: places taken, those that were paid, and the tier they were told of last.
CREATE TABLE paywall_tier (
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  route text NOT NULL,
  payer text NOT NULL,
  window_start timestamptz(3) NOT NULL,
  taken integer NOT NULL CHECK (taken >= 0),
  paid integer NOT NULL CHECK (paid >= 0),
  tier integer NOT NULL,
  PRIMARY KEY (paywall_id, route, payer),
  CHECK (paid <= taken)
);

-- The right to calls that was paid for. The money itself is the owner's already.
CREATE TABLE paywall_balance (
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  network text NOT NULL,
  payer text NOT NULL,
  available bigint NOT NULL CHECK (available >= 0),
  held bigint NOT NULL CHECK (held >= 0),
  paid bigint NOT NULL,
  drawn bigint NOT NULL CHECK (drawn >= 0),
  PRIMARY KEY (paywall_id, network, payer),
  -- What was paid is there, set aside, or drawn.
  CHECK (available + held + drawn = paid)
) WITH (fillfactor = 60);

CREATE TABLE paywall_token (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  network text NOT NULL,
  payer text NOT NULL
);

-- Set aside for a call that is under way.
CREATE TABLE paywall_hold (
  call text PRIMARY KEY,
  paywall_id text NOT NULL,
  network text NOT NULL,
  payer text NOT NULL,
  route text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  minimum bigint NOT NULL CHECK (minimum BETWEEN 0 AND amount),
  until timestamptz(3) NOT NULL,
  FOREIGN KEY (paywall_id, network, payer) REFERENCES paywall_balance (paywall_id, network, payer)
    ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX paywall_hold_until_idx ON paywall_hold (until);

-- What calls took of balances. Only ever added to.
CREATE TABLE paywall_draw (
  call text PRIMARY KEY,
  paywall_id text NOT NULL,
  network text NOT NULL,
  payer text NOT NULL,
  route text NOT NULL,
  amount bigint NOT NULL CHECK (amount >= 0),
  at timestamptz(3) NOT NULL,
  FOREIGN KEY (paywall_id, network, payer) REFERENCES paywall_balance (paywall_id, network, payer)
    ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE FUNCTION paywall_draw_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a draw is never changed or removed';
END $$;
CREATE TRIGGER paywall_draw_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON paywall_draw
  FOR EACH STATEMENT EXECUTE FUNCTION paywall_draw_stays();

-- What a day brought, by route and outcome; written with what it counts.
CREATE TABLE paywall_day (
  paywall_id text NOT NULL REFERENCES paywall (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  day date NOT NULL,
  route text NOT NULL,
  outcome text NOT NULL,
  count bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (paywall_id, day, route, outcome)
) WITH (fillfactor = 60);
