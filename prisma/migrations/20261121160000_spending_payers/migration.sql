-- Another one after every change of the row: a process that decided about an agent last knows by it whether what it
-- remembers still holds.
ALTER TABLE "spending_agent" ADD COLUMN "version" BIGINT NOT NULL DEFAULT 0;

-- A payment's money comes from the treasury to the account's own payer wallet before anything is signed.
ALTER TYPE "spending_payment_state" ADD VALUE 'funding' AFTER 'reserved';
ALTER TYPE "spending_payment_state" ADD VALUE 'funded' AFTER 'funding';

CREATE TABLE "spending_payer" (
    "address" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "spare" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spending_payer_pkey" PRIMARY KEY ("address"),
    CONSTRAINT "spending_payer_spare" CHECK ("spare" >= 0)
);

CREATE INDEX "spending_payer_user_id_environment_created_at_idx" ON "spending_payer" ("user_id", "environment", "created_at" DESC);

ALTER TABLE "spending_payment"
    ADD COLUMN "funding" BIGINT,
    ADD COLUMN "funding_payer" TEXT,
    ADD COLUMN "funding_valid_before" BIGINT,
    ADD COLUMN "funding_block" BIGINT,
    ADD COLUMN "funding_hash" TEXT,
    ADD COLUMN "block_number" BIGINT,
    ADD COLUMN "reason" TEXT,
    ADD COLUMN "answer" TEXT,
    ADD CONSTRAINT "spending_payment_funding" CHECK ("funding" BETWEEN 0 AND "amount"),
    ADD CONSTRAINT "spending_payment_funding_terms" CHECK (coalesce("funding", 0) = 0 OR ("funding_payer" IS NOT NULL AND "funding_valid_before" IS NOT NULL AND "funding_block" IS NOT NULL));

-- A payment is funded by one transfer for good: its terms are stored before it is signed, and never change.
CREATE TRIGGER spending_payment_one_funding BEFORE UPDATE ON "spending_payment"
FOR EACH ROW WHEN (OLD.funding IS NOT NULL AND (NEW.funding, NEW.funding_payer, NEW.funding_valid_before) IS DISTINCT FROM (OLD.funding, OLD.funding_payer, OLD.funding_valid_before))
EXECUTE FUNCTION spending_refuse_second();

-- What the reconciliation asks for: what was captured from blocks that it does not look at yet.
CREATE INDEX "spending_payment_block" ON "spending_payment" ("network", "block_number") WHERE "block_number" IS NOT NULL;

-- Whose key asked for a run: an agent's keys see its own alone.
ALTER TABLE "run" ADD COLUMN "agent_id" TEXT;
CREATE INDEX "run_of_agent" ON "run" ("agent_id", "id" DESC) WHERE "agent_id" IS NOT NULL;
