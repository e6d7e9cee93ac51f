CREATE TYPE facilitator_state AS ENUM ('claimed', 'signed', 'broadcast', 'settled', 'failed');
CREATE TYPE facilitator_transaction_state AS ENUM ('signed', 'broadcast', 'mined', 'final', 'lost');

-- One nonce of a sponsor. The unique key is what makes two writers of one key harmless: the second one's
-- statement fails before anything of it was sent.
CREATE TABLE facilitator_transaction (
  id bigserial PRIMARY KEY,
  network text NOT NULL,
  sponsor bytea NOT NULL,
  nonce bigint NOT NULL,
  state facilitator_transaction_state NOT NULL DEFAULT 'signed',
  target bytea NOT NULL,
  data bytea NOT NULL,
  gas bigint NOT NULL,
  max_fee numeric(78, 0) NOT NULL,
  priority_fee numeric(78, 0) NOT NULL,
  hash bytea NOT NULL,
  raw bytea NOT NULL,
  bumps integer NOT NULL DEFAULT 0,
  signed_at timestamptz(3) NOT NULL,
  sent_at timestamptz(3),
  block_number bigint,
  block_hash bytea
);
CREATE UNIQUE INDEX facilitator_transaction_network_sponsor_nonce_key ON facilitator_transaction (network, sponsor, nonce);
-- What is followed until it is deep enough, and nothing else.
CREATE INDEX facilitator_transaction_open ON facilitator_transaction (network, sponsor, nonce)
  WHERE state IN ('signed', 'broadcast', 'mined');

-- Every hash that a transaction was ever signed under, written before it is sent: any of them may be mined.
CREATE TABLE facilitator_hash (
  hash bytea PRIMARY KEY,
  transaction_id bigint NOT NULL REFERENCES facilitator_transaction (id) ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX facilitator_hash_transaction_id_idx ON facilitator_hash (transaction_id);

-- One authorization, by its EIP-712 digest. Each row is rewritten four times on its way: half-full pages keep
-- those updates off the indexes whose columns they leave alone.
CREATE TABLE facilitator_settlement (
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  network text NOT NULL,
  asset bytea NOT NULL CHECK (length(asset) = 20),
  payer bytea NOT NULL CHECK (length(payer) = 20),
  nonce bytea NOT NULL CHECK (length(nonce) = 32),
  pay_to bytea NOT NULL CHECK (length(pay_to) = 20),
  value numeric(78, 0) NOT NULL,
  valid_after numeric(78, 0) NOT NULL,
  valid_before numeric(78, 0) NOT NULL,
  signature bytea NOT NULL,
  payer_has_code boolean NOT NULL,
  alone boolean NOT NULL,
  gas bigint NOT NULL,
  seen_block bigint NOT NULL,
  state facilitator_state NOT NULL DEFAULT 'claimed',
  attempts integer NOT NULL DEFAULT 0,
  taken_by text,
  taken_until timestamptz(3),
  transaction_id bigint REFERENCES facilitator_transaction (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  tx_hash bytea,
  block_number bigint,
  external boolean NOT NULL DEFAULT false,
  final boolean NOT NULL DEFAULT false,
  reason text,
  ours boolean NOT NULL DEFAULT false,
  claimed_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  offered_to text,
  offered_until timestamptz(3),
  handed_out_at timestamptz(3),
  -- The hash is stored before the broadcast, and no success is without one.
  CHECK (state IN ('claimed', 'failed') OR tx_hash IS NOT NULL),
  CHECK (state IN ('claimed', 'failed') OR transaction_id IS NOT NULL OR external),
  CHECK ((state = 'failed') = (reason IS NOT NULL))
) WITH (fillfactor = 50);
-- A payer's nonce belongs to one authorization.
CREATE UNIQUE INDEX facilitator_settlement_network_asset_payer_nonce_key
  ON facilitator_settlement (network, asset, payer, nonce);
CREATE INDEX facilitator_settlement_transaction_id_idx ON facilitator_settlement (transaction_id);
-- What waits for a sponsor or for a block, oldest first.
CREATE INDEX facilitator_settlement_open ON facilitator_settlement (network, claimed_at)
  WHERE state IN ('claimed', 'signed', 'broadcast');
-- What somebody else's transaction settled and is not deep enough yet.
CREATE INDEX facilitator_settlement_external ON facilitator_settlement (network) WHERE external AND NOT final;

-- What sponsoring has cost by network and day: for all (an empty payer) and for each payer.
CREATE TABLE facilitator_gas (
  network text NOT NULL,
  day date NOT NULL,
  payer bytea NOT NULL,
  spent numeric(78, 0) NOT NULL,
  PRIMARY KEY (network, day, payer)
);
