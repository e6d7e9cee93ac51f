-- How many free prompts a creator has paid for on a day: in all (caller '') and for each caller.
CREATE TABLE run_free (
  at timestamptz(3) NOT NULL,
  owner text NOT NULL,
  caller text NOT NULL,
  used integer NOT NULL CHECK (used >= 0),
  told boolean NOT NULL DEFAULT false,
  PRIMARY KEY (at, owner, caller)
);
