CREATE TYPE "spending_status" AS ENUM ('active', 'paused', 'deleted');
CREATE TYPE "spending_kind" AS ENUM ('run', 'tool', 'pay');
CREATE TYPE "spending_outcome" AS ENUM ('allowed', 'refused', 'held');
CREATE TYPE "spending_approval_state" AS ENUM ('pending', 'approved', 'refused', 'lapsed', 'used');
CREATE TYPE "spending_payment_state" AS ENUM ('reserved', 'signed', 'sent', 'settled', 'returned');

-- Rewritten by every batch of decisions about it: room on its page keeps that a HOT update.
CREATE TABLE "spending_agent" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "name" TEXT NOT NULL,
    "status" "spending_status" NOT NULL DEFAULT 'active',
    "policy" JSONB NOT NULL,
    "counted_at" TIMESTAMPTZ(3) NOT NULL,
    "minute_calls" INTEGER NOT NULL DEFAULT 0,
    "minute_spent" BIGINT NOT NULL DEFAULT 0,
    "day_spent" BIGINT NOT NULL DEFAULT 0,
    "week_spent" BIGINT NOT NULL DEFAULT 0,
    "month_spent" BIGINT NOT NULL DEFAULT 0,
    "lifetime_spent" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spending_agent_pkey" PRIMARY KEY ("id"),
    -- What came back was counted before: below zero would be money counted twice.
    CONSTRAINT "spending_agent_counts" CHECK ("minute_calls" >= 0 AND "minute_spent" >= 0 AND "day_spent" >= 0 AND "week_spent" >= 0 AND "month_spent" >= 0 AND "lifetime_spent" >= 0)
) WITH (fillfactor = 50);

CREATE INDEX "spending_agent_user_id_environment_id_idx" ON "spending_agent" ("user_id", "environment", "id");

CREATE TABLE "spending_decision" (
    "agent_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "kind" "spending_kind" NOT NULL,
    "target" TEXT NOT NULL,
    "domain" TEXT,
    "amount" BIGINT NOT NULL,
    "outcome" "spending_outcome" NOT NULL,
    "rule" TEXT,
    "pattern" TEXT,
    "reference" TEXT NOT NULL,
    "returned" BIGINT NOT NULL DEFAULT 0,
    "approval_id" TEXT,
    "alias" TEXT,

    CONSTRAINT "spending_decision_pkey" PRIMARY KEY ("agent_id", "at", "id"),
    CONSTRAINT "spending_decision_amounts" CHECK ("amount" >= 0 AND "returned" BETWEEN 0 AND "amount")
) WITH (fillfactor = 90);

-- One lock is counted once, whoever asks for it how often.
CREATE UNIQUE INDEX "spending_decision_lock" ON "spending_decision" ("reference") WHERE "outcome" = 'allowed';

CREATE TABLE "spending_return" (
    "agent_id" TEXT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "amount" BIGINT NOT NULL,

    CONSTRAINT "spending_return_pkey" PRIMARY KEY ("agent_id", "id"),
    CONSTRAINT "spending_return_amount" CHECK ("amount" > 0)
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE "spending_alert" (
    "agent_id" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "limit" TEXT NOT NULL,
    "threshold" INTEGER NOT NULL,
    "window" TIMESTAMPTZ(3) NOT NULL,
    "told_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spending_alert_pkey" PRIMARY KEY ("agent_id", "event", "limit", "threshold", "window")
);

CREATE TABLE "spending_approval" (
    "id" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "state" "spending_approval_state" NOT NULL DEFAULT 'pending',
    "kind" "spending_kind" NOT NULL,
    "target" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "on_approved" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),
    "used_by" TEXT,

    CONSTRAINT "spending_approval_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "spending_approval_used" CHECK (("state" = 'used') = ("used_by" IS NOT NULL))
);

CREATE INDEX "spending_approval_user_id_environment_id_idx" ON "spending_approval" ("user_id", "environment", "id" DESC);
-- A request that is repeated while it waits finds the approval that it waits for.
CREATE UNIQUE INDEX "spending_approval_open" ON "spending_approval" ("agent_id", "request_hash") WHERE "state" IN ('pending', 'approved');
CREATE INDEX "spending_approval_lapse" ON "spending_approval" ("expires_at") WHERE "state" IN ('pending', 'approved');

CREATE TABLE "spending_payment" (
    "id" TEXT NOT NULL,
    "agent_id" TEXT,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "state" "spending_payment_state" NOT NULL DEFAULT 'reserved',
    "url" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "max_amount" BIGINT NOT NULL,
    "amount" BIGINT NOT NULL,
    "network" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "pay_to" TEXT NOT NULL,
    "valid_before" BIGINT NOT NULL,
    "nonce" TEXT NOT NULL,
    "signature" TEXT,
    "asked" TEXT NOT NULL,
    "seen_block" BIGINT NOT NULL,
    "answer_status" INTEGER,
    "tx_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "look_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "spending_payment_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "spending_payment_ceiling" CHECK ("amount" > 0 AND "amount" <= "max_amount"),
    -- What may move money is stored before it may leave.
    CONSTRAINT "spending_payment_signed" CHECK ("state" NOT IN ('signed', 'sent', 'settled') OR "signature" IS NOT NULL),
    CONSTRAINT "spending_payment_settled" CHECK ("state" <> 'settled' OR "tx_hash" IS NOT NULL)
);

CREATE UNIQUE INDEX "spending_payment_network_payer_nonce_key" ON "spending_payment" ("network", "payer", "nonce");
CREATE INDEX "spending_payment_user_id_environment_id_idx" ON "spending_payment" ("user_id", "environment", "id" DESC);
CREATE INDEX "spending_payment_open" ON "spending_payment" ("look_at") WHERE "state" NOT IN ('settled', 'returned');

-- A payment has one authorization for good.
CREATE FUNCTION spending_refuse_second() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the payment % has an authorization already', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER spending_payment_one_authorization BEFORE UPDATE ON "spending_payment"
FOR EACH ROW WHEN ((NEW.nonce, NEW.payer, NEW.pay_to, NEW.amount, NEW.valid_before, NEW.network) IS DISTINCT FROM (OLD.nonce, OLD.payer, OLD.pay_to, OLD.amount, OLD.valid_before, OLD.network))
EXECUTE FUNCTION spending_refuse_second();

-- Whoever ends a lock gives its room back in that very statement: a capture of less than the lock, a release, the
-- ledger's sweeper. It only adds rows: taking the agent's own row here would close a circle of waiting with
-- decisions, which take the agent first and the wallet afterwards. Switched off are the plans of a young database,
-- which a connection would keep.
CREATE FUNCTION spending_give_back() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM fresh WHERE state <> 'open' AND captured < amount) THEN
        RETURN NULL;
    END IF;
    WITH given AS (
        UPDATE spending_decision d
        SET returned = least(d.amount, f.amount - f.captured)
        FROM fresh f
        WHERE d.reference = f.id AND d.outcome = 'allowed' AND d.amount > 0 AND f.state <> 'open' AND f.captured < f.amount
        RETURNING d.agent_id, d.at, d.returned
    )
    INSERT INTO spending_return (agent_id, at, amount) SELECT agent_id, at, returned FROM given;
    RETURN NULL;
END $$;

CREATE TRIGGER spending_hold_ended AFTER UPDATE ON "ledger_hold"
REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION spending_give_back();
