-- Where somebody takes their money out to, unless they say otherwise.
CREATE TABLE wallet_payout_address (
  user_id text NOT NULL,
  environment environment NOT NULL,
  address bytea NOT NULL CHECK (length(address) = 20),
  changed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, environment)
);
