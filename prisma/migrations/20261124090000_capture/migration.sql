-- A checkout may charge only once its workflow has succeeded: its sale is held meanwhile.
CREATE TYPE "checkout_capture" AS ENUM ('onPayment', 'onSuccess');
ALTER TABLE "checkout"
  ADD COLUMN "capture" "checkout_capture" NOT NULL DEFAULT 'onPayment',
  ADD COLUMN "run_seconds" INTEGER NOT NULL DEFAULT 180,
  ADD COLUMN "refund_on_failure" BOOLEAN NOT NULL DEFAULT false,
  ADD CONSTRAINT "checkout_run_seconds" CHECK ("run_seconds" BETWEEN 10 AND 86400);

ALTER TABLE "sale"
  ADD COLUMN "result" JSON,
  -- A held sale has a deadline, and a time at which it is looked at.
  ADD CONSTRAINT "sale_held" CHECK ("state" <> 'held' OR ("lease_until" IS NOT NULL AND "resume_at" IS NOT NULL)),
  -- What is released, or never begun, has no result.
  ADD CONSTRAINT "sale_result" CHECK ("result" IS NULL OR "state" IN ('settling', 'paid', 'failed', 'refunded'));
CREATE INDEX "sale_held" ON "sale" ("product", "resume_at") WHERE "state" = 'held';
CREATE INDEX "sale_promised" ON "sale" ("payer", "network") WHERE "state" IN ('claimed', 'held', 'settling') AND NOT "simulated";

-- Wallets that left finished work unpaid.
CREATE TABLE "checkout_default" (
    "payer" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkout_default_pkey" PRIMARY KEY ("payer", "network")
);
CREATE INDEX "checkout_default_until_payer_network_idx" ON "checkout_default" ("until", "payer", "network");
