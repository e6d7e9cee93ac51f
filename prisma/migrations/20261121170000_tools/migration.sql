CREATE TYPE "tool_provider_kind" AS ENUM ('openapi', 'mcp', 'rda');
CREATE TYPE "tool_status" AS ENUM ('live', 'removed');

CREATE TABLE "tool_provider" (
    "environment" "environment" NOT NULL,
    "owner_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "kind" "tool_provider_kind" NOT NULL,
    "simulated" BOOLEAN NOT NULL,
    "source" JSONB,
    "pricing" JSONB NOT NULL,
    "source_hash" TEXT,
    "credentials" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_provider_pkey" PRIMARY KEY ("environment", "owner_id", "slug"),
    -- What the simulator answers is worth nothing: nobody is ever charged for it in earnest.
    CONSTRAINT "tool_provider_simulated" CHECK ("environment" = 'sandbox' OR NOT "simulated")
);

CREATE TABLE "tool" (
    "id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "owner_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "category" TEXT,
    "price" BIGINT NOT NULL,
    "deprecated" BOOLEAN NOT NULL,
    "terms" TEXT NOT NULL,
    "input" JSON NOT NULL,
    "output" JSON,
    "upstream" JSON NOT NULL,
    "address" TEXT,
    "status" "tool_status" NOT NULL DEFAULT 'live',
    "successor" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "content_hash" TEXT NOT NULL,
    "change" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tool_priced" CHECK ("price" >= 0),
    CONSTRAINT "tool_succeeded" CHECK ("status" = 'removed' OR "successor" IS NULL),
    CONSTRAINT "tool_environment_owner_id_provider_fkey" FOREIGN KEY ("environment", "owner_id", "provider")
        REFERENCES "tool_provider" ("environment", "owner_id", "slug") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "tool_environment_owner_id_slug_key" ON "tool" ("environment", "owner_id", "slug");
CREATE INDEX "tool_environment_change_idx" ON "tool" ("environment", "change");
CREATE INDEX "tool_environment_owner_id_provider_idx" ON "tool" ("environment", "owner_id", "provider");

CREATE TABLE "tool_collection" (
    "environment" "environment" NOT NULL,
    "owner_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "patterns" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_collection_pkey" PRIMARY KEY ("environment", "owner_id", "slug")
);

CREATE TABLE "tool_catalogue" (
    "environment" "environment" NOT NULL,
    "change" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "tool_catalogue_pkey" PRIMARY KEY ("environment")
);

-- There from the start, so that whoever changes a catalogue finds something to lock.
INSERT INTO "tool_catalogue" ("environment") VALUES ('sandbox'), ('production');
