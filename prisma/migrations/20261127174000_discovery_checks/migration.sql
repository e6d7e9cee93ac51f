-- When the address itself asked for these terms, in these words.
ALTER TABLE "discovery_resource" ADD COLUMN "verified_at" TIMESTAMPTZ(3);

-- What payers say about other sellers' addresses, until the address is asked, and what came of it.
CREATE TABLE "discovery_check" (
    "id" BIGSERIAL NOT NULL,
    "resource" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "scheme" TEXT NOT NULL,
    "pay_to" BYTEA NOT NULL,
    "address" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "amount" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "check_at" TIMESTAMPTZ(3),
    "asked_at" TIMESTAMPTZ(3),
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "discovery_check_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "discovery_check_key" ON "discovery_check"("pay_to", "resource", "tool", "network", "scheme");
CREATE INDEX "discovery_check_host_asked_at_idx" ON "discovery_check"("host", "asked_at");
CREATE INDEX "discovery_check_host_check_at_id_idx" ON "discovery_check"("host", "check_at", "id");
CREATE INDEX "discovery_check_check_at_idx" ON "discovery_check"("check_at");
CREATE INDEX "discovery_check_changed_at_id_idx" ON "discovery_check"("changed_at", "id");

-- Entries from before stay listed until their address was asked, once.
INSERT INTO "discovery_check"
    ("resource", "tool", "network", "scheme", "pay_to", "address", "host", "method", "amount", "state",
     "check_at", "changed_at")
SELECT "resource", "tool", "network", "scheme", "pay_to", "resource", coalesce(substring("resource" FROM '^https?://(\[[^]]*\]|[^/:]+)'), ''),
    CASE WHEN "type" = 'mcp' OR "extensions"->'bazaar'->'info'->'input'->>'method' IN ('POST', 'PUT', 'PATCH')
        THEN 'POST' ELSE 'GET' END,
    coalesce("accepts"->0->>'amount', ''), 'waiting', now(), now()
FROM "discovery_resource";
