-- For routes with a sign-in: when a wallet has last paid for a path, and the sign-ins that were used.
CREATE TABLE "paywall_pass" (
    "paywall_id" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "path" BYTEA NOT NULL,
    "paid_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "paywall_pass_pkey" PRIMARY KEY ("paywall_id", "payer", "path")
);
CREATE INDEX "paywall_pass_paid_at_idx" ON "paywall_pass" ("paid_at");

CREATE TABLE "paywall_sign_in" (
    "nonce" BYTEA NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "paywall_sign_in_pkey" PRIMARY KEY ("nonce")
);
CREATE INDEX "paywall_sign_in_used_at_idx" ON "paywall_sign_in" ("used_at");
