-- A refund that the seller signs in the wallet that received the payment.
ALTER TYPE "refund_way" ADD VALUE 'own';

ALTER TABLE "refund"
  -- The terms of its one authorization: the rest of them is in the sale and follows from the refund's id.
  ADD COLUMN "valid_before" BIGINT,
  ADD COLUMN "seen_block" BIGINT,
  ADD COLUMN "signature" TEXT,
  -- When to ask the chain about it again. Null once it has ended.
  ADD COLUMN "look_at" TIMESTAMPTZ(3),
  -- A new value of an enum cannot be used in the transaction that adds it, so it is compared as text.
  ADD CONSTRAINT "refund_own_terms" CHECK
    (("way"::text = 'own') = ("valid_before" IS NOT NULL) AND ("way"::text = 'own') = ("seen_block" IS NOT NULL)),
  ADD CONSTRAINT "refund_own_signed" CHECK
    ("signature" IS NULL OR ("way"::text = 'own' AND "state" <> 'requested' AND length("signature") <= 16384)),
  ADD CONSTRAINT "refund_own_looked_at" CHECK
    (("look_at" IS NOT NULL) = ("way"::text = 'own' AND "ended_at" IS NULL)),
  ADD CONSTRAINT "refund_own_paid" CHECK
    ("way"::text <> 'own' OR "state" <> 'confirmed' OR "tx_hash" IS NOT NULL);

CREATE INDEX "refund_own_due" ON "refund" ("look_at") WHERE "look_at" IS NOT NULL;
CREATE INDEX "refund_own_owner" ON "refund" ("user_id", "environment", "created_at") WHERE "valid_before" IS NOT NULL;

CREATE FUNCTION refund_own_terms_are_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.valid_before, NEW.seen_block) IS DISTINCT FROM (OLD.valid_before, OLD.seen_block)
     OR (OLD.signature IS NOT NULL AND NEW.signature IS DISTINCT FROM OLD.signature) THEN
    RAISE EXCEPTION 'the terms of the refund % are fixed', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refund_own_terms_are_fixed BEFORE UPDATE ON "refund"
  FOR EACH ROW EXECUTE FUNCTION refund_own_terms_are_fixed();
