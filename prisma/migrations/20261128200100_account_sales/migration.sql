-- Nobody signs for a sale that an account of this server pays. The constraint is not checked for the rows that exist: they keep
-- the one before.
ALTER TABLE "sale"
  DROP CONSTRAINT "sale_signed",
  ADD CONSTRAINT "sale_signed" CHECK (
    ("simulated" OR "amount" = 0 OR coalesce("method" = 'account', false)) = ("digest" IS NULL) AND ("digest" IS NULL) = ("request" IS NULL)
  ) NOT VALID;

-- Such a sale ends with its hold, in one transaction: paid when that is captured, failed when it is given back. A process of the version
-- before, which knows no holds of sales, cannot end it.
CREATE FUNCTION sale_ends_with_hold() RETURNS trigger AS $$
DECLARE
  has text;
BEGIN
  SELECT state::text INTO has FROM ledger_hold WHERE id = NEW.id;
  IF has IS DISTINCT FROM (CASE NEW.state WHEN 'paid' THEN 'captured' ELSE 'released' END) THEN
    RAISE EXCEPTION 'sale % cannot be %: its hold is %', NEW.id, NEW.state, coalesce(has, 'missing') USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;

CREATE CONSTRAINT TRIGGER sale_hold AFTER UPDATE OF "state" ON "sale"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW."method" = 'account' AND NEW."state" IN ('paid', 'failed') AND OLD."state" IS DISTINCT FROM NEW."state")
  EXECUTE FUNCTION sale_ends_with_hold();
