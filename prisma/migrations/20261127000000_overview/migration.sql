-- How often a checkout's page was opened, by UTC day. It says nothing of who opened it.
CREATE TABLE "checkout_day" (
    "checkout_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "opened" BIGINT NOT NULL,

    CONSTRAINT "checkout_day_pkey" PRIMARY KEY ("day", "checkout_id"),
    CHECK ("opened" > 0)
);
CREATE INDEX "checkout_day_owner" ON "checkout_day" ("user_id", "environment", "day");

-- A seller's sums by day are read from the index alone.
DROP INDEX "sale_owner";
CREATE INDEX "sale_owner" ON "sale" ("user_id", "environment", "id" DESC)
  INCLUDE ("state", "simulated", "amount", "refunded", "created_at") WHERE "user_id" IS NOT NULL;

-- A seller's new customers.
CREATE INDEX "sale_customer_first" ON "sale_customer" ("user_id", "environment", "first_at");
