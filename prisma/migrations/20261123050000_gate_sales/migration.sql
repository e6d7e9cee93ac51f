-- A simulated call may have cost nothing.
ALTER TABLE "sale" DROP CONSTRAINT "sale_amount_positive";
ALTER TABLE "sale" ADD CONSTRAINT "sale_amount" CHECK ("amount" > 0 OR ("simulated" AND "amount" = 0));
-- Rows change some times in their first seconds: room for that on their own page.
ALTER TABLE "sale" SET (fillfactor = 60);

-- Payments at gates are sales, and go on where they were.
INSERT INTO "sale" ("id", "product", "subject", "user_id", "environment", "state", "handover", "amount", "network",
    "recipient", "payer", "simulated", "digest", "request", "input_hash", "body_hash", "token_hash", "details", "tx_hash",
    "reason", "lease_until", "resume_at", "created_at", "ended_at")
SELECT p."id", 'gate', p."paywall_id", p."user_id", p."environment",
    CASE WHEN p."state" = 'calling' THEN 'claimed' ELSE p."state"::text END::"sale_state",
    CASE
        WHEN p."state" = 'paid' AND p."delivery" = 'none' AND a."payment_id" IS NULL
            AND p."ended_at" < now() - interval '10 minutes' THEN 'expired'
        ELSE p."delivery"::text
    END::"sale_handover",
    p."amount", p."network", p."recipient", p."payer", p."simulated", p."digest", p."request", p."line_hash",
    p."body_hash", p."token_hash",
    json_build_object('kind', p."kind", 'route', p."route", 'endpoint', p."endpoint",
        'windowStart', to_char(p."window_start" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'cost', p."cost"::text),
    p."tx_hash", p."reason", p."lease_until", p."resume_at", p."created_at", p."ended_at"
FROM "paywall_payment" p LEFT JOIN "paywall_answer" a ON a."payment_id" = p."id";

INSERT INTO "sale_answer" ("sale_id", "meta", "body", "stored_at")
SELECT "payment_id", json_build_object('status', "status", 'headers', "headers"), "body", "kept_at" FROM "paywall_answer";

DROP TABLE "paywall_answer";
DROP TABLE "paywall_payment";
DROP TYPE "paywall_payment_kind";
DROP TYPE "paywall_payment_state";
DROP TYPE "paywall_delivery";
