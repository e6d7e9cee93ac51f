-- Payments in flight end before this, and others begin after it: none is judged by the old rule and then by the new one.
LOCK TABLE "sale" IN SHARE ROW EXCLUSIVE MODE;

-- Whether a sale counts in its seller's sums (`isReal` in service/sales/model.ts). In production simulated payments and those on a
-- test network moved nothing of worth; the sandbox has no others. The test networks are those of service/chain/networks.ts:
-- test/sales/real.test.ts compares them.
CREATE FUNCTION is_real_sale("environment", network text, simulated boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT $1 = 'sandbox' OR (NOT $3 AND $2 NOT IN ('base-sepolia'))
$$;

CREATE OR REPLACE FUNCTION sale_has_customer("sale") RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT $1.user_id IS NOT NULL AND $1.state IN ('paid', 'refunded') AND is_real_sale($1.environment, $1.network, $1.simulated)
$$;

-- Test money makes no customer of a gate. A process of the version before would count it: its transaction is undone, and the
-- sweeper of a process of this version ends the sale.
CREATE FUNCTION gate_counts_real_sales() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM paywall_customer WHERE paywall_id = NEW.subject AND payer = NEW.payer AND xmin = pg_current_xact_id()::xid
  ) THEN
    RAISE EXCEPTION 'sale % was paid with test money, which a gate does not count', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER gate_counts_real_sales AFTER UPDATE OF "state" ON "sale"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW."product" = 'gate' AND NEW."state" = 'paid' AND OLD."state" <> 'paid'
    AND NOT is_real_sale(NEW."environment", NEW."network", NEW."simulated"))
  EXECUTE FUNCTION gate_counts_real_sales();

-- A seller's sums by day are read from the index alone: it has what the rule looks at. It takes the place of `sale_owner`.
CREATE INDEX "sale_owner_real" ON "sale" ("user_id", "environment", "id" DESC)
  INCLUDE ("state", "simulated", "network", "amount", "refunded", "created_at") WHERE "user_id" IS NOT NULL;
