-- Payments at checkouts are sales, and go on where they were.
INSERT INTO "sale" ("id", "product", "subject", "user_id", "environment", "state", "handover", "amount", "network",
    "recipient", "payer", "simulated", "digest", "request", "input_hash", "token_hash", "details", "tx_hash", "reason",
    "resume_at", "created_at", "ended_at")
SELECT "id", 'checkout', "checkout_id", "user_id", "environment",
    CASE WHEN "state" = 'created' THEN 'claimed' ELSE "state"::text END::"sale_state", 'none', "amount", "network",
    "recipient", "payer", "simulated", "digest", "request", "input_hash", "token_hash",
    json_build_object('input', "input"), "tx_hash", "reason", "resume_at", "created_at", "ended_at"
FROM "checkout_payment";

DROP TABLE "checkout_payment";
DROP TYPE "checkout_payment_state";

CREATE INDEX "sale_tx" ON "sale" ("tx_hash") WHERE "tx_hash" IS NOT NULL;
ALTER TABLE "sale" ADD CONSTRAINT "sale_recipient" CHECK ("simulated" OR "recipient" IS NOT NULL);
ALTER TABLE "sale" ADD CONSTRAINT "sale_failed" CHECK ("state" <> 'failed' OR "reason" IS NOT NULL);
ALTER TABLE "sale" ADD CONSTRAINT "sale_hashes" CHECK (length("digest") = 32 AND length("input_hash") = 32) NOT VALID;
