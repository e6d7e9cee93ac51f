-- The resources that were paid for through this facilitator, so that buyers find them.
CREATE TABLE "discovery_resource" (
    "id" BIGSERIAL NOT NULL,
    "resource" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "scheme" TEXT NOT NULL,
    "pay_to" BYTEA NOT NULL,
    "type" TEXT NOT NULL,
    "x402_version" INTEGER NOT NULL,
    "accepts" JSON NOT NULL,
    "description" TEXT,
    "mime_type" TEXT,
    "service_name" TEXT,
    "tags" TEXT[],
    "icon_url" TEXT,
    "extensions" JSON NOT NULL,
    "extension_keys" TEXT[],
    "words" tsvector NOT NULL DEFAULT ''::tsvector,
    "score" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "shadowed" BOOLEAN NOT NULL DEFAULT false,
    "payers" INTEGER NOT NULL DEFAULT 0,
    "calls" INTEGER NOT NULL DEFAULT 0,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "discovery_resource_pkey" PRIMARY KEY ("id")
-- A search reads thousands of rows for their score: the long descriptions are stored apart from them.
) WITH (toast_tuple_target = 512);
ALTER TABLE "discovery_resource" ALTER COLUMN "words" SET STORAGE MAIN;
-- Many addresses begin alike, so the tool and the merchant come first; the first columns also count a merchant's own.
CREATE UNIQUE INDEX "discovery_resource_key" ON "discovery_resource"("pay_to", "resource", "tool", "network", "scheme");
CREATE INDEX "discovery_resource_resource_idx" ON "discovery_resource"("resource");
CREATE INDEX "discovery_resource_last_at_id_idx" ON "discovery_resource"("last_at", "id");
-- Pages of the list are read from the index alone, with their filters.
CREATE INDEX "discovery_resource_shown" ON "discovery_resource"("score" DESC, "id")
    INCLUDE ("type", "network", "scheme", "pay_to", "extension_keys") WHERE NOT "shadowed";
CREATE INDEX "discovery_resource_words_idx" ON "discovery_resource" USING GIN ("words");

-- What is known of one payer at one resource.
CREATE TABLE "discovery_payer" (
    "resource_id" BIGINT NOT NULL,
    "payer" BYTEA NOT NULL,
    "settled" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "waited_ms" BIGINT NOT NULL,
    "timed" INTEGER NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "discovery_payer_pkey" PRIMARY KEY ("resource_id", "payer"),
    CONSTRAINT "discovery_payer_resource_id_fkey" FOREIGN KEY ("resource_id")
        REFERENCES "discovery_resource"("id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "discovery_payer_last_at_resource_id_payer_idx" ON "discovery_payer"("last_at", "resource_id", "payer");

-- Addresses whose incoming transfers are looked for in the background.
CREATE TABLE "discovery_origin" (
    "network" TEXT NOT NULL,
    "address" BYTEA NOT NULL,
    "depth" INTEGER NOT NULL,
    "open" BOOLEAN NOT NULL DEFAULT true,
    "next_block" BIGINT,
    "last_block" BIGINT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "discovery_origin_pkey" PRIMARY KEY ("network", "address")
);
CREATE INDEX "discovery_origin_open" ON "discovery_origin"("network", "updated_at") WHERE "open";
CREATE INDEX "discovery_origin_updated_at_network_address_idx" ON "discovery_origin"("updated_at", "network", "address");

-- USDC that went to one of them.
CREATE TABLE "discovery_transfer" (
    "network" TEXT NOT NULL,
    "recipient" BYTEA NOT NULL,
    "sender" BYTEA NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "discovery_transfer_pkey" PRIMARY KEY ("network", "recipient", "sender")
);
CREATE INDEX "discovery_transfer_seen_at_network_recipient_sender_idx"
    ON "discovery_transfer"("seen_at", "network", "recipient", "sender");
