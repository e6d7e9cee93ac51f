-- The block in which a payment was used although its hold had been given back: the operator bears the loss.
ALTER TABLE "spending_payment" ADD COLUMN "lost_block" BIGINT;

-- Returned payments that are looked at again. `look_at` is infinity after the last time.
CREATE INDEX "spending_payment_returned" ON "spending_payment" ("look_at")
WHERE "state" = 'returned' AND "reason" = 'expired' AND "lost_block" IS NULL AND "look_at" < 'infinity';

-- What the reconciliation asks for.
CREATE INDEX "spending_payment_lost" ON "spending_payment" ("network", "lost_block") WHERE "lost_block" IS NOT NULL;
