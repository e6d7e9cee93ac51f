CREATE TYPE "sale_product" AS ENUM ('tool', 'checkout', 'gate', 'asset');
CREATE TYPE "sale_state" AS ENUM ('claimed', 'released', 'held', 'settling', 'paid', 'failed', 'refunded');
CREATE TYPE "sale_handover" AS ENUM ('none', 'begun', 'whole', 'expired');

CREATE TABLE "sale" (
    "id" TEXT NOT NULL,
    "product" "sale_product" NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT,
    "environment" "environment" NOT NULL,
    "state" "sale_state" NOT NULL,
    "handover" "sale_handover" NOT NULL DEFAULT 'none',
    "amount" BIGINT NOT NULL,
    "network" TEXT NOT NULL,
    "recipient" TEXT,
    "payer" TEXT NOT NULL,
    "simulated" BOOLEAN NOT NULL,
    "digest" BYTEA,
    "request" JSON,
    "input_hash" BYTEA NOT NULL,
    "body_hash" BYTEA,
    "token_hash" BYTEA,
    "details" JSON NOT NULL,
    "tx_hash" TEXT,
    "reason" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "resume_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sale_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sale_amount_positive" CHECK ("amount" > 0),
    -- What nobody signed for is never money.
    CONSTRAINT "sale_signed" CHECK ("simulated" = ("digest" IS NULL) AND ("digest" IS NULL) = ("request" IS NULL)),
    CONSTRAINT "sale_ended" CHECK (("state" IN ('paid', 'failed', 'refunded')) = ("ended_at" IS NOT NULL)),
    CONSTRAINT "sale_paid" CHECK ("state" <> 'paid' OR "tx_hash" IS NOT NULL),
    -- Nothing is handed over before it is paid.
    CONSTRAINT "sale_handed_over" CHECK ("state" IN ('paid', 'refunded') OR "handover" = 'none')
);

CREATE TABLE "sale_answer" (
    "sale_id" TEXT NOT NULL,
    "meta" JSON NOT NULL,
    "body" BYTEA NOT NULL,
    "stored_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sale_answer_pkey" PRIMARY KEY ("sale_id")
);

CREATE UNIQUE INDEX "sale_digest_key" ON "sale" ("digest");
CREATE INDEX "sale_subject_id_idx" ON "sale" ("subject", "id" DESC);
CREATE INDEX "sale_open" ON "sale" ("product", "resume_at") WHERE "state" IN ('claimed', 'settling');
CREATE INDEX "sale_lost" ON "sale" ("lease_until") WHERE "state" = 'claimed' AND "resume_at" IS NULL;
CREATE INDEX "sale_answer_stored_at_idx" ON "sale_answer" ("stored_at");
ALTER TABLE "sale_answer" ADD CONSTRAINT "sale_answer_sale_id_fkey"
    FOREIGN KEY ("sale_id") REFERENCES "sale" ("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- Calls of tools that strangers paid for go on where they were.
INSERT INTO "sale" ("id", "product", "subject", "environment", "state", "handover", "amount", "network", "recipient",
    "payer", "simulated", "digest", "request", "input_hash", "token_hash", "details", "tx_hash", "reason", "lease_until",
    "resume_at", "created_at", "ended_at")
SELECT "id", 'tool', "tool_id", "environment",
    CASE
        WHEN "state" = 'answered' OR ("state" = 'claimed' AND "submitted") THEN 'settling'
        WHEN "state" = 'failed' AND NOT "submitted" THEN 'released'
        ELSE "state"::text
    END::"sale_state",
    CASE WHEN "state" = 'paid' AND NOT "owed" AND "kind" IS NULL THEN 'whole' ELSE 'none' END::"sale_handover",
    "amount", "network", "recipient", "payer", false, "digest", "request", "input_hash", "token_hash",
    CASE
        WHEN "owed" OR "kind" IS NULL AND "state" <> 'paid' THEN json_build_object('slug', "slug", 'provider', "provider")
        ELSE json_build_object('slug', "slug", 'provider', "provider", 'durationMs', "duration_ms")
    END,
    "tx_hash", "reason",
    CASE WHEN "state" IN ('claimed', 'answered') THEN "leased_until" END,
    CASE WHEN "state" = 'answered' OR ("state" = 'claimed' AND "submitted") THEN "leased_until" END,
    "created_at",
    CASE
        WHEN "state" = 'paid' THEN coalesce("paid_at", "created_at")
        WHEN "state" = 'failed' AND "submitted" THEN "created_at"
    END
FROM "tool_payment";

INSERT INTO "sale_answer" ("sale_id", "meta", "body", "stored_at")
SELECT "id", json_build_object('kind', "kind", 'durationMs', "duration_ms"), convert_to("value"::text, 'UTF8'),
    coalesce("paid_at", "leased_until")
FROM "tool_payment" WHERE "kind" IS NOT NULL AND ("state" = 'answered' OR ("state" = 'paid' AND NOT "owed"));

DROP TABLE "tool_payment";
DROP TYPE "tool_payment_state";
