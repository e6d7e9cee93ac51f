-- An address of our own at which one order is paid by plain transfers of USDC.
CREATE TYPE "payment_address_state" AS ENUM ('open', 'paying', 'paid', 'closed');
CREATE TYPE "address_return_state" AS ENUM ('open', 'settled', 'failed');

CREATE TABLE "payment_address" (
    "id" TEXT NOT NULL,
    -- The seller.
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "checkout_id" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    -- 2/<index> of the wallet's account. No number is used twice.
    "account" TEXT NOT NULL,
    "index" SERIAL NOT NULL,
    "address" BYTEA NOT NULL,
    -- Micro-USDC that the order costs.
    "amount" BIGINT NOT NULL,
    -- The input, the choice, the quote and the mail of the order.
    "bought" JSONB NOT NULL,
    "state" "payment_address_state" NOT NULL DEFAULT 'open',
    -- How many authorizations were signed for the order, and the last second of the newest.
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "valid_before" BIGINT,
    -- Micro-USDC at the address when it was last read.
    "balance" BIGINT NOT NULL DEFAULT 0,
    -- Why it takes no payment any more, or why the last attempt was refused.
    "reason" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "looked_at" TIMESTAMPTZ(3) NOT NULL,
    -- When the balance is read next. Null where it is read only on request.
    "look_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_address_pkey" PRIMARY KEY ("id"),
    CHECK ("amount" > 0),
    CHECK ("balance" >= 0),
    CHECK (("state" IN ('paid', 'closed')) = ("ended_at" IS NOT NULL)),
    CHECK (("attempt" = 0) = ("valid_before" IS NULL)),
    CHECK ("state" NOT IN ('paying', 'paid') OR "attempt" > 0),
    CHECK ("state" <> 'closed' OR "reason" IS NOT NULL)
);
CREATE UNIQUE INDEX "payment_address_account_index_key" ON "payment_address" ("account", "index");
CREATE UNIQUE INDEX "payment_address_address_key" ON "payment_address" ("address");
CREATE INDEX "payment_address_due" ON "payment_address" ("network", "look_at") WHERE "look_at" IS NOT NULL;
CREATE INDEX "payment_address_open" ON "payment_address" ("user_id", "environment", "created_at") WHERE "state" IN ('open', 'paying');
CREATE INDEX "payment_address_unused" ON "payment_address" ("ended_at", "id") WHERE "state" = 'closed';

-- What goes back to the buyer: too much, too little, or too late.
CREATE TABLE "payment_address_return" (
    "id" BIGSERIAL NOT NULL,
    "address_id" TEXT NOT NULL,
    "recipient" BYTEA NOT NULL,
    "amount" BIGINT NOT NULL,
    "nonce" BYTEA NOT NULL,
    "valid_before" BIGINT NOT NULL,
    "state" "address_return_state" NOT NULL DEFAULT 'open',
    "transaction_hash" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_address_return_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "payment_address_return_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "payment_address" ("id") ON DELETE RESTRICT ON UPDATE NO ACTION,
    CHECK ("amount" > 0),
    CHECK (("state" = 'open') = ("ended_at" IS NULL))
);
CREATE INDEX "payment_address_return_address_id_idx" ON "payment_address_return" ("address_id");
CREATE INDEX "payment_address_return_created_at_idx" ON "payment_address_return" ("created_at");
CREATE UNIQUE INDEX "payment_address_return_one_open" ON "payment_address_return" ("address_id") WHERE "state" = 'open';
