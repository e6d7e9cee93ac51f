-- What stands in a payment page's form, for an hour, so that it can be paid on another device.
CREATE TABLE "checkout_draft" (
    "token_hash" BYTEA NOT NULL,
    "checkout_id" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkout_draft_pkey" PRIMARY KEY ("token_hash")
);
CREATE INDEX "checkout_draft_expires_at_token_hash_idx" ON "checkout_draft" ("expires_at", "token_hash");
CREATE INDEX "checkout_draft_checkout_id_expires_at_idx" ON "checkout_draft" ("checkout_id", "expires_at");
