-- What goes back of a sale: the sum of its refunds that have not failed, kept by the trigger below.
ALTER TABLE "sale" ADD COLUMN "refunded" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "sale" ADD CONSTRAINT "sale_refunded" CHECK ("refunded" BETWEEN 0 AND "amount");

-- The list of an account's payments, and those of one payer in it. Sales without a seller are in no list.
CREATE INDEX "sale_owner" ON "sale" ("user_id", "environment", "id" DESC) WHERE "user_id" IS NOT NULL;
CREATE INDEX "sale_owner_payer" ON "sale" ("user_id", "environment", "payer", "id" DESC) WHERE "user_id" IS NOT NULL;

CREATE TYPE "refund_state" AS ENUM ('requested', 'funded', 'sent', 'confirmed', 'failed');
CREATE TYPE "refund_way" AS ENUM ('wallet', 'account', 'simulated');
CREATE TYPE "refund_requester" AS ENUM ('seller', 'rule', 'dispute', 'agent');

CREATE TABLE "refund" (
    "id" TEXT NOT NULL,
    "sale_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "amount" BIGINT NOT NULL,
    "reason" TEXT,
    "requested_by" "refund_requester" NOT NULL,
    "way" "refund_way" NOT NULL,
    "state" "refund_state" NOT NULL DEFAULT 'requested',
    -- While it is requested: what it waits for, how much is missing, and when to try again.
    "waits_for" TEXT,
    "missing" BIGINT,
    "try_at" TIMESTAMPTZ(3),
    "failure" TEXT,
    "tx_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "funded_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "refund_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "refund_amount_positive" CHECK ("amount" > 0),
    CONSTRAINT "refund_reason_length" CHECK (length("reason") <= 500),
    CONSTRAINT "refund_ended" CHECK (("state" IN ('confirmed', 'failed')) = ("ended_at" IS NOT NULL)),
    CONSTRAINT "refund_failed" CHECK (("state" = 'failed') = ("failure" IS NOT NULL)),
    CONSTRAINT "refund_waits" CHECK ("state" = 'requested' OR ("waits_for" IS NULL AND "missing" IS NULL AND "try_at" IS NULL))
);

CREATE INDEX "refund_sale_id_id_idx" ON "refund" ("sale_id", "id");
CREATE INDEX "refund_due" ON "refund" ("try_at") WHERE "state" = 'requested';
CREATE INDEX "refund_open" ON "refund" ("created_at") WHERE "state" IN ('funded', 'sent');
ALTER TABLE "refund" ADD CONSTRAINT "refund_sale_id_fkey"
    FOREIGN KEY ("sale_id") REFERENCES "sale" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Whatever runs at once, no sale gives back more than was paid for it: the sale's row is where refunds are counted.
CREATE FUNCTION refund_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state = 'failed' THEN
      RAISE EXCEPTION 'the refund % begins failed', NEW.id;
    END IF;
    UPDATE sale SET refunded = refunded + NEW.amount WHERE id = NEW.sale_id AND state = 'paid';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the sale % of the refund % is not paid', NEW.sale_id, NEW.id;
    END IF;
    RETURN NULL;
  END IF;
  IF OLD.state IN ('confirmed', 'failed') THEN
    RAISE EXCEPTION 'the refund % has ended', OLD.id;
  END IF;
  IF (NEW.id, NEW.sale_id, NEW.user_id, NEW.environment, NEW.amount, NEW.way)
     IS DISTINCT FROM (OLD.id, OLD.sale_id, OLD.user_id, OLD.environment, OLD.amount, OLD.way) THEN
    RAISE EXCEPTION 'the terms of the refund % are fixed', OLD.id;
  END IF;
  IF NEW.state = 'failed' THEN
    UPDATE sale SET refunded = refunded - OLD.amount WHERE id = OLD.sale_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refund_counts AFTER INSERT OR UPDATE ON "refund" FOR EACH ROW EXECUTE FUNCTION refund_counts();

-- One machine pays withdrawals and refunds: a refund's payout has the refund's id.
ALTER TABLE "wallet_withdrawal" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'withdrawal';
ALTER TABLE "wallet_withdrawal"
    ADD CONSTRAINT "wallet_withdrawal_kind" CHECK ("kind" IN ('withdrawal', 'refund') AND ("kind" = 'refund') = ("id" LIKE 'rfd\_%'));
DROP INDEX "wallet_withdrawal_user_id_environment_created_at_idx";
CREATE INDEX "wallet_withdrawal_user_id_environment_kind_created_at_idx"
    ON "wallet_withdrawal" ("user_id", "environment", "kind", "created_at" DESC);

CREATE OR REPLACE FUNCTION wallet_withdrawal_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state IN ('confirmed', 'failed') THEN
    RAISE EXCEPTION 'the withdrawal % has ended', OLD.id;
  END IF;
  IF (NEW.id, NEW.environment, NEW.user_id, NEW.network, NEW.recipient, NEW.amount, NEW.nonce, NEW.kind)
     IS DISTINCT FROM (OLD.id, OLD.environment, OLD.user_id, OLD.network, OLD.recipient, OLD.amount, OLD.nonce, OLD.kind)
     OR (OLD.valid_before IS NOT NULL AND (NEW.payer, NEW.valid_before) IS DISTINCT FROM (OLD.payer, OLD.valid_before)) THEN
    RAISE EXCEPTION 'the terms of the withdrawal % are fixed', OLD.id;
  END IF;
  RETURN NEW;
END $$;
