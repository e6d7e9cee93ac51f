-- A sale may cost nothing: its buyer has a right to it, and signs no authorization.
ALTER TABLE "sale"
  DROP CONSTRAINT "sale_amount",
  DROP CONSTRAINT "sale_signed",
  ADD CONSTRAINT "sale_amount" CHECK ("amount" > 0 OR ("amount" = 0 AND ("simulated" OR "details" ->> 'right' IS NOT NULL))),
  ADD CONSTRAINT "sale_signed" CHECK (("simulated" OR "amount" = 0) = ("digest" IS NULL) AND ("digest" IS NULL) = ("request" IS NULL));

ALTER TABLE "checkout"
  ADD COLUMN "trial_runs" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "trials_per_day" INTEGER NOT NULL DEFAULT 50,
  ADD COLUMN "plans" JSON NOT NULL DEFAULT '[]';

CREATE TYPE "pass_end" AS ENUM ('owner', 'time', 'refunded');

CREATE TABLE "pass" (
    "id" TEXT NOT NULL,
    "checkout_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "plan_id" TEXT NOT NULL,
    "plan_name" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "simulated" BOOLEAN NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "runs" INTEGER,
    "used" INTEGER NOT NULL,
    "until" TIMESTAMPTZ(3),
    "remind_at" TIMESTAMPTZ(3),
    "email" TEXT,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" "pass_end",
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pass_pkey" PRIMARY KEY ("id"),
    -- Never one run more than was paid for.
    CONSTRAINT "pass_runs" CHECK ("used" >= 0 AND ("runs" IS NULL OR "used" <= "runs")),
    CONSTRAINT "pass_bounded" CHECK ("runs" IS NOT NULL OR "until" IS NOT NULL),
    CONSTRAINT "pass_ended" CHECK (("ended_at" IS NULL) = ("end_reason" IS NULL))
);
CREATE UNIQUE INDEX "pass_token_hash_key" ON "pass" ("token_hash");
CREATE INDEX "pass_owner" ON "pass" ("user_id", "environment", "id" DESC);
CREATE INDEX "pass_holder" ON "pass" ("checkout_id", "holder", "id" DESC);
CREATE INDEX "pass_running" ON "pass" ("until") WHERE "ended_at" IS NULL AND "until" IS NOT NULL;
CREATE INDEX "pass_remind" ON "pass" ("remind_at") WHERE "remind_at" IS NOT NULL;

CREATE TABLE "pass_sale" (
    "sale_id" TEXT NOT NULL,
    "pass_id" TEXT NOT NULL,
    "runs" INTEGER,
    "days" INTEGER,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "pass_sale_pkey" PRIMARY KEY ("sale_id")
);
CREATE INDEX "pass_sale_pass_id_idx" ON "pass_sale" ("pass_id");
ALTER TABLE "pass_sale" ADD CONSTRAINT "pass_sale_pass_id_fkey"
    FOREIGN KEY ("pass_id") REFERENCES "pass" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "trial" (
    "checkout_id" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "simulated" BOOLEAN NOT NULL,
    "used" INTEGER NOT NULL,

    CONSTRAINT "trial_pkey" PRIMARY KEY ("checkout_id", "holder", "simulated"),
    CONSTRAINT "trial_used" CHECK ("used" >= 0)
);

CREATE TABLE "trial_day" (
    "checkout_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "used" INTEGER NOT NULL,

    CONSTRAINT "trial_day_pkey" PRIMARY KEY ("checkout_id", "day"),
    CONSTRAINT "trial_day_used" CHECK ("used" >= 0)
);
CREATE INDEX "trial_day_age" ON "trial_day" ("day", "checkout_id");
