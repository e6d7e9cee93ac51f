CREATE TYPE "tool_payment_state" AS ENUM ('claimed', 'answered', 'paid', 'failed');

CREATE TABLE "tool_call" (
    "id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "user_id" TEXT,
    "agent_id" TEXT,
    "tool_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "cost" BIGINT NOT NULL,
    "error_code" TEXT,
    "error" TEXT,
    "attempt" INTEGER NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id"),
    -- Only a success is charged.
    CONSTRAINT "tool_call_charged" CHECK ("cost" >= 0 AND ("cost" = 0 OR "error_code" IS NULL)),
    CONSTRAINT "tool_call_failure_named" CHECK (("error_code" IS NULL) = ("error" IS NULL))
);

CREATE INDEX "tool_call_of_user" ON "tool_call" ("user_id", "environment", "id" DESC);

CREATE TABLE "tool_answer" (
    "call_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "value" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_answer_pkey" PRIMARY KEY ("call_id")
);

CREATE INDEX "tool_answer_age" ON "tool_answer" ("created_at");

CREATE TABLE "tool_delta" (
    "id" BIGSERIAL NOT NULL,
    "tool_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "latency_class" INTEGER NOT NULL,
    "error" TEXT,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_delta_pkey" PRIMARY KEY ("id")
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE "tool_figure" (
    "environment" "environment" NOT NULL,
    "tool_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "latency_class" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL,

    CONSTRAINT "tool_figure_pkey" PRIMARY KEY ("environment", "tool_id", "day", "latency_class")
) WITH (fillfactor = 70);

CREATE TABLE "tool_health" (
    "tool_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "streak" INTEGER NOT NULL,
    "last_error" TEXT,
    "last_error_at" TIMESTAMPTZ(3),
    "looked_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_health_pkey" PRIMARY KEY ("tool_id")
) WITH (fillfactor = 70);

CREATE INDEX "tool_health_streak" ON "tool_health" ("streak");

CREATE TABLE "tool_payment" (
    "id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "digest" BYTEA NOT NULL,
    "tool_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "input_hash" BYTEA NOT NULL,
    "amount" BIGINT NOT NULL,
    "network" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "request" JSON NOT NULL,
    "state" "tool_payment_state" NOT NULL,
    "kind" TEXT,
    "value" JSON,
    "duration_ms" INTEGER NOT NULL DEFAULT 0,
    "reason" TEXT,
    "tx_hash" TEXT,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "paid_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_payment_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tool_payment_paid" CHECK (("state" = 'paid') = ("tx_hash" IS NOT NULL) AND ("state" = 'paid') = ("paid_at" IS NOT NULL)),
    -- No money for a call without an answer.
    CONSTRAINT "tool_payment_answered" CHECK ("state" <> 'answered' OR "kind" IS NOT NULL)
);

CREATE UNIQUE INDEX "tool_payment_digest_key" ON "tool_payment" ("digest");
-- What nobody may be at any more.
CREATE INDEX "tool_payment_open" ON "tool_payment" ("leased_until") WHERE "state" IN ('claimed', 'answered');
-- Answers that are to be forgotten.
CREATE INDEX "tool_payment_kept" ON "tool_payment" ("created_at") WHERE "kind" IS NOT NULL;
