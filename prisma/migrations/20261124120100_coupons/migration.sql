-- Codes that make purchases cheaper. The number of uses is held by the row itself, however many buyers come at once.
CREATE TABLE "coupon" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "code" TEXT NOT NULL,
    "percent" INTEGER,
    "amount" BIGINT,
    "max" INTEGER,
    "per_customer" INTEGER,
    "until" TIMESTAMPTZ(3),
    "checkouts" TEXT[],
    "used" INTEGER NOT NULL DEFAULT 0,
    "tested" INTEGER NOT NULL DEFAULT 0,
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coupon_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "coupon_discount" CHECK (("percent" IS NULL) <> ("amount" IS NULL)),
    CONSTRAINT "coupon_percent" CHECK ("percent" IS NULL OR "percent" BETWEEN 1 AND 100),
    CONSTRAINT "coupon_amount" CHECK ("amount" IS NULL OR "amount" > 0),
    CONSTRAINT "coupon_used" CHECK ("used" >= 0 AND ("max" IS NULL OR "used" <= "max")),
    CONSTRAINT "coupon_tested" CHECK ("tested" >= 0 AND ("max" IS NULL OR "tested" <= "max"))
);

CREATE UNIQUE INDEX "coupon_code" ON "coupon"("user_id", "environment", "code") WHERE "archived_at" IS NULL;
CREATE INDEX "coupon_owner" ON "coupon"("user_id", "environment", "id" DESC);

CREATE TABLE "coupon_use" (
    "sale_id" TEXT NOT NULL,
    "coupon_id" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "simulated" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coupon_use_pkey" PRIMARY KEY ("sale_id"),
    CONSTRAINT "coupon_use_coupon_id_fkey" FOREIGN KEY ("coupon_id") REFERENCES "coupon"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

CREATE INDEX "coupon_use_payer" ON "coupon_use"("coupon_id", "payer");
