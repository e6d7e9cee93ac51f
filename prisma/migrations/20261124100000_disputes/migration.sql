-- What an account promises buyers about problems with a payment. Without a row the defaults of the service hold.
CREATE TYPE "dispute_unanswered" AS ENUM ('refund', 'close');
CREATE TYPE "refund_agents" AS ENUM ('automatic', 'asked');
CREATE TABLE "refund_policy" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "window_days" INTEGER NOT NULL,
    "answer_days" INTEGER NOT NULL,
    "unanswered" "dispute_unanswered" NOT NULL,
    "partial_refunds" BOOLEAN NOT NULL,
    "agents" "refund_agents" NOT NULL,
    "per_sale" BIGINT NOT NULL,
    "per_day" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refund_policy_pkey" PRIMARY KEY ("user_id", "environment"),
    CONSTRAINT "refund_policy_days" CHECK ("window_days" BETWEEN 0 AND 365 AND "answer_days" BETWEEN 1 AND 30),
    CONSTRAINT "refund_policy_limits" CHECK ("per_sale" >= 0 AND "per_day" >= 0)
);

CREATE TYPE "dispute_state" AS ENUM ('open', 'refunding', 'refunded', 'declined', 'closed');
CREATE TYPE "dispute_reason" AS ENUM ('service_not_delivered', 'service_defective', 'duplicate_payment', 'overcharge', 'customer_request', 'other');
CREATE TYPE "dispute_opener" AS ENUM ('buyer', 'agent');
CREATE TYPE "dispute_decider" AS ENUM ('seller', 'deadline', 'policy');
CREATE TABLE "dispute" (
    "id" TEXT NOT NULL,
    "sale_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "state" "dispute_state" NOT NULL,
    "reason" "dispute_reason" NOT NULL,
    "text" TEXT,
    -- What the buyer asks for. Null: all of it.
    "amount" BIGINT,
    "opened_by" "dispute_opener" NOT NULL,
    -- The address that paid, and the key with which its program may repeat the request.
    "payer" TEXT NOT NULL,
    "request_key" TEXT,
    "request_hash" BYTEA,
    -- The policy at the time of the report.
    "unanswered" "dispute_unanswered" NOT NULL,
    "answer_days" INTEGER NOT NULL,
    "answer_by" TIMESTAMPTZ(3) NOT NULL,
    "answer" TEXT,
    "decided_by" "dispute_decider",
    "decided_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "refund_id" TEXT,
    "refund_amount" BIGINT,
    "refund_failure" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "dispute_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "dispute_lengths" CHECK (length("text") <= 1000 AND length("answer") <= 1000 AND length("request_key") <= 64),
    CONSTRAINT "dispute_amounts" CHECK ("amount" > 0 AND "refund_amount" > 0),
    CONSTRAINT "dispute_ended" CHECK (("state" IN ('refunded', 'declined', 'closed')) = ("ended_at" IS NOT NULL)),
    CONSTRAINT "dispute_refunding" CHECK (("state" = 'refunding') = ("lease_until" IS NOT NULL) AND ("state" <> 'refunding' OR "refund_id" IS NOT NULL)),
    CONSTRAINT "dispute_request" CHECK (("request_key" IS NULL) = ("request_hash" IS NULL))
);
CREATE UNIQUE INDEX "dispute_sale_id_key" ON "dispute" ("sale_id");
CREATE UNIQUE INDEX "dispute_request_key" ON "dispute" ("request_key", "payer") WHERE "request_key" IS NOT NULL;
CREATE INDEX "dispute_user_id_environment_id_idx" ON "dispute" ("user_id", "environment", "id" DESC);
CREATE INDEX "dispute_automatic" ON "dispute" ("user_id", "environment", "decided_at") WHERE "decided_by" = 'policy';
CREATE INDEX "dispute_open" ON "dispute" ("answer_by") WHERE "state" = 'open';
CREATE INDEX "dispute_refunding" ON "dispute" ("lease_until") WHERE "state" = 'refunding';
ALTER TABLE "dispute" ADD CONSTRAINT "dispute_sale_id_fkey"
    FOREIGN KEY ("sale_id") REFERENCES "sale" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- A report ends once.
CREATE FUNCTION dispute_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state IN ('refunded', 'declined', 'closed') THEN
    RAISE EXCEPTION 'the dispute % has ended', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER dispute_ends_once BEFORE UPDATE ON "dispute" FOR EACH ROW EXECUTE FUNCTION dispute_ends_once();
