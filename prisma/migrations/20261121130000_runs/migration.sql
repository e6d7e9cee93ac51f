CREATE TYPE "run_status" AS ENUM ('queued', 'running', 'succeeded', 'failed', 'canceled');

CREATE TABLE "run" (
    "id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "user_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "rda_id" TEXT NOT NULL,
    "rda_slug" TEXT NOT NULL,
    "rda_type" TEXT NOT NULL,
    "rda_version" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "payer_id" TEXT NOT NULL,
    "status" "run_status" NOT NULL,
    "locked" BIGINT NOT NULL,
    "price" BIGINT NOT NULL,
    "cost" BIGINT NOT NULL DEFAULT 0,
    "model_id" TEXT,
    "prompt_tokens" INTEGER,
    "completion_tokens" INTEGER,
    "inputs" JSONB NOT NULL,
    "output" TEXT,
    "error_code" TEXT,
    "error" TEXT,
    "webhook_url" TEXT,
    "process" TEXT,
    "deadline" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,

    CONSTRAINT "run_pkey" PRIMARY KEY ("id"),
    -- Nobody is charged for what they did not get, and nobody gets what was not charged.
    CONSTRAINT "run_charged_with_output" CHECK (("status" = 'succeeded') = ("output" IS NOT NULL) AND ("cost" = 0 OR "status" = 'succeeded')),
    CONSTRAINT "run_within_price" CHECK ("cost" BETWEEN 0 AND "price" AND "price" <= "locked"),
    CONSTRAINT "run_ended" CHECK (("status" IN ('succeeded', 'failed', 'canceled')) = ("ended_at" IS NOT NULL)),
    CONSTRAINT "run_failure_named" CHECK (("status" IN ('failed', 'canceled')) = ("error_code" IS NOT NULL))
) WITH (fillfactor = 60);

CREATE INDEX "run_of_user" ON "run" ("user_id", "environment", "id" DESC);
CREATE INDEX "run_of_rda" ON "run" ("rda_id", "user_id");
-- Recent ends by time; a block range index costs a run nothing.
CREATE INDEX "run_ended" ON "run" USING brin ("ended_at") WITH (autosummarize = on);
-- What is under way, for the sweeper that ends what nobody else will.
CREATE INDEX "run_open" ON "run" ("deadline") WHERE "status" IN ('queued', 'running');

CREATE TABLE "run_delta" (
    "id" BIGSERIAL NOT NULL,
    "rda_id" TEXT NOT NULL,
    "runs" INTEGER NOT NULL,
    "succeeded" INTEGER NOT NULL,
    "revenue" BIGINT NOT NULL,
    "latency_ms" BIGINT NOT NULL,

    CONSTRAINT "run_delta_pkey" PRIMARY KEY ("id")
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE "run_rate" (
    "rda_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "used" INTEGER NOT NULL,

    CONSTRAINT "run_rate_pkey" PRIMARY KEY ("rda_id")
) WITH (fillfactor = 50);
