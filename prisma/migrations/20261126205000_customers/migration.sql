-- A seller's customers: everyone who paid with one e-mail address, or without one from one wallet. A trigger keeps each
-- sum with its sales, so a page of customers reads as many rows as it shows, however many sales there are.
CREATE TABLE "sale_customer" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    -- The e-mail address in lower case; without one, the wallet. Compared byte by byte, so that the primary key also finds
    -- by the beginning.
    "key" TEXT COLLATE "C" NOT NULL,
    "email" TEXT,
    -- The wallet of the last payment.
    "payer" TEXT NOT NULL,
    -- That wallet is an address of ours, to which the customer sent plain transfers.
    "by_transfer" BOOLEAN NOT NULL,
    "payments" BIGINT NOT NULL,
    -- Micro-USDC.
    "paid" BIGINT NOT NULL,
    "refunded" BIGINT NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_id" TEXT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sale_customer_pkey" PRIMARY KEY ("user_id", "environment", "key"),
    CHECK ("payments" > 0),
    CHECK ("paid" >= 0 AND "refunded" >= 0)
);
CREATE INDEX "sale_customer_last" ON "sale_customer" ("user_id", "environment", "last_id" DESC);
CREATE INDEX "sale_customer_paid" ON "sale_customer" ("user_id", "environment", "paid" DESC, "key" DESC);
CREATE INDEX "sale_customer_payments" ON "sale_customer" ("user_id", "environment", "payments" DESC, "key" DESC);

-- Test payments on a live server paid nothing; in the sandbox there are no others.
CREATE FUNCTION sale_has_customer("sale") RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT $1.user_id IS NOT NULL AND $1.state IN ('paid', 'refunded') AND (NOT $1.simulated OR $1.environment = 'sandbox')
$$;

CREATE FUNCTION sale_customer_key("sale") RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(lower($1.details #>> '{receipt,email}'), $1.payer)
$$;

CREATE FUNCTION paid_by_transfer(payer text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT payer ~ '^0x[0-9a-f]{40}$' AND EXISTS (
    SELECT 1 FROM payment_address a WHERE a.address = decode(substr(payer, 3), 'hex')
  )
$$;

CREATE FUNCTION sale_customer_counts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  had boolean := TG_OP = 'UPDATE' AND sale_has_customer(OLD);
  has boolean := sale_has_customer(NEW);
BEGIN
  IF had AND has AND sale_customer_key(OLD) = sale_customer_key(NEW) THEN
    UPDATE sale_customer SET paid = paid + NEW.amount - OLD.amount, refunded = refunded + NEW.refunded - OLD.refunded
    WHERE user_id = NEW.user_id AND environment = NEW.environment AND key = sale_customer_key(NEW)
      AND (NEW.amount <> OLD.amount OR NEW.refunded <> OLD.refunded);
    RETURN NULL;
  END IF;
  IF had THEN
    DELETE FROM sale_customer
    WHERE user_id = OLD.user_id AND environment = OLD.environment AND key = sale_customer_key(OLD) AND payments = 1;
    UPDATE sale_customer SET payments = payments - 1, paid = paid - OLD.amount, refunded = refunded - OLD.refunded
    WHERE user_id = OLD.user_id AND environment = OLD.environment AND key = sale_customer_key(OLD);
  END IF;
  IF has THEN
    INSERT INTO sale_customer AS c
      (user_id, environment, key, email, payer, by_transfer, payments, paid, refunded, first_at, last_id, last_at)
    VALUES (NEW.user_id, NEW.environment, sale_customer_key(NEW), lower(NEW.details #>> '{receipt,email}'), NEW.payer,
      paid_by_transfer(NEW.payer), 1, NEW.amount, NEW.refunded, NEW.created_at, NEW.id, NEW.created_at)
    ON CONFLICT (user_id, environment, key) DO UPDATE SET
      payer = CASE WHEN excluded.last_id > c.last_id THEN excluded.payer ELSE c.payer END,
      by_transfer = CASE WHEN excluded.last_id > c.last_id THEN excluded.by_transfer ELSE c.by_transfer END,
      payments = c.payments + 1, paid = c.paid + excluded.paid, refunded = c.refunded + excluded.refunded,
      first_at = least(c.first_at, excluded.first_at), last_at = greatest(c.last_at, excluded.last_at),
      last_id = greatest(c.last_id, excluded.last_id);
  END IF;
  RETURN NULL;
END $$;

-- At the end of the transaction: the customer's row is the last thing that is locked, and for a moment only.
CREATE CONSTRAINT TRIGGER sale_customer_counts AFTER INSERT OR UPDATE OF "state", "refunded", "details", "amount" ON "sale"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION sale_customer_counts();

INSERT INTO "sale_customer"
  ("user_id", "environment", "key", "email", "payer", "by_transfer", "payments", "paid", "refunded", "first_at", "last_id", "last_at")
SELECT "user_id", "environment", "key", "email", "payer", paid_by_transfer("payer"), "payments", "paid", "refunded", "first_at", "last_id", "last_at"
FROM (
  SELECT s.user_id, s.environment, sale_customer_key(s) AS "key", max(lower(s.details #>> '{receipt,email}')) AS "email",
    (array_agg(s.payer ORDER BY s.id DESC))[1] AS "payer", count(*) AS "payments", sum(s.amount)::bigint AS "paid",
    sum(s.refunded)::bigint AS "refunded", min(s.created_at) AS "first_at", max(s.id) AS "last_id", max(s.created_at) AS "last_at"
  FROM "sale" s WHERE sale_has_customer(s) GROUP BY 1, 2, 3
) found;
