-- How many accounts of a mail domain, and of a caller's address, were given free credits on a day of UTC. A version
-- that does not know the table grants without counting.
CREATE TABLE identity_grant_count (
  at timestamptz(3) NOT NULL,
  source text NOT NULL,
  used integer NOT NULL CHECK (used >= 0),
  PRIMARY KEY (at, source)
);
-- When the credits of a sign-up were held back, for the answer that says why there are none.
ALTER TABLE identity_user ADD COLUMN credits_withheld_at timestamptz(3);
