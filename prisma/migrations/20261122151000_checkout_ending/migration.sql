-- A persistent checkout may end in a moment instead of at once: publishing again removes it and makes it anew.
DO $$
DECLARE name text;
BEGIN
  SELECT conname INTO STRICT name FROM pg_constraint
  WHERE conrelid = 'checkout'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%leased_until IS NOT NULL%';
  EXECUTE format('ALTER TABLE checkout DROP CONSTRAINT %I', name);
END $$;
ALTER TABLE checkout ADD CONSTRAINT checkout_lease CHECK (lifetime = 'persistent' OR leased_until IS NOT NULL);
CREATE INDEX checkout_ending ON checkout (leased_until) WHERE leased_until IS NOT NULL AND state <> 'expired';
