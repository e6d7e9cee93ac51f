-- Command lines that wait for a signed-in person to enter their code (RFC 8628).
CREATE TABLE "oauth_device" (
    "device_hash" BYTEA NOT NULL,
    "user_code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "interval_seconds" INTEGER NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "decision" TEXT,
    "user_id" TEXT,
    "environment" "environment",
    "redeemed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_device_pkey" PRIMARY KEY ("device_hash"),
    CONSTRAINT "oauth_device_decision" CHECK ("decision" IN ('approved', 'refused')),
    CONSTRAINT "oauth_device_approved_for" CHECK ("decision" IS DISTINCT FROM 'approved' OR ("user_id" IS NOT NULL AND "environment" IS NOT NULL))
);
CREATE UNIQUE INDEX "oauth_device_user_code_key" ON "oauth_device" ("user_code");
CREATE INDEX "oauth_device_expires_at_device_hash_idx" ON "oauth_device" ("expires_at", "device_hash");
