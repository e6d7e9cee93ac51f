-- Whether the customer was told, and agreed, that the creator sees what they fill in. Of runs before this, and of runs that
-- a version writes which does not know it, nobody was.
ALTER TABLE run ADD COLUMN inputs_shared boolean NOT NULL DEFAULT false;
