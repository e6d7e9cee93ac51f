-- A further amount that a seller asks a buyer for within an order. It is paid at a checkout of its own.
CREATE TYPE "payment_request_end" AS ENUM ('paid', 'refused', 'expired');

CREATE TABLE "payment_request" (
    "id" TEXT NOT NULL,
    -- The payment that it belongs to.
    "payment_id" TEXT NOT NULL,
    "checkout_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    -- Micro-USDC.
    "amount" BIGINT NOT NULL,
    "note" TEXT NOT NULL,
    -- Where its end is sent to.
    "callback_url" TEXT,
    -- The payment of the further amount: no second one begins while it is under way.
    "sale_id" TEXT,
    -- Null while it is open.
    "ended_as" "payment_request_end",
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_request_pkey" PRIMARY KEY ("id"),
    CHECK ("amount" > 0),
    CHECK (("ended_as" IS NULL) = ("ended_at" IS NULL)),
    CHECK ("ended_as" IS DISTINCT FROM 'paid' OR "sale_id" IS NOT NULL)
);
CREATE UNIQUE INDEX "payment_request_checkout_id_key" ON "payment_request" ("checkout_id");
CREATE UNIQUE INDEX "payment_request_sale_id_key" ON "payment_request" ("sale_id");
CREATE INDEX "payment_request_payment_id_idx" ON "payment_request" ("payment_id");
CREATE INDEX "payment_request_open" ON "payment_request" ("expires_at") WHERE "ended_as" IS NULL AND "sale_id" IS NULL;
