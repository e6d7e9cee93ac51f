-- An account's access to a provider of tools: its own key, or what it allowed there by OAuth.
CREATE TABLE "connection" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "agent_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "provider_owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "schemes" TEXT[] NOT NULL,
    "hosts" TEXT[] NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "secret" TEXT,
    "version" INTEGER NOT NULL DEFAULT 0,
    "request" TEXT,
    "state_hash" BYTEA,
    "request_expires_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "lease_id" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "connection_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "connection_kind" CHECK ("kind" IN ('key', 'oauth', 'client')),
    CONSTRAINT "connection_state" CHECK ("state" IN ('pending', 'active', 'refreshing', 'expired', 'revoked')),
    CONSTRAINT "connection_secret" CHECK ("state" NOT IN ('active', 'refreshing') OR "secret" IS NOT NULL),
    CONSTRAINT "connection_lease" CHECK ("state" <> 'refreshing' OR ("lease_id" IS NOT NULL AND "lease_until" IS NOT NULL)),
    CONSTRAINT "connection_request" CHECK (("state_hash" IS NULL) = ("request" IS NULL))
);
CREATE UNIQUE INDEX "connection_state_hash_key" ON "connection"("state_hash");
CREATE INDEX "connection_owner" ON "connection"("user_id", "environment", "id" DESC);
CREATE INDEX "connection_age" ON "connection"("updated_at", "id");

-- One default for each provider, of the account and of each agent.
CREATE UNIQUE INDEX "connection_default" ON "connection"("user_id", "environment", "provider", "provider_owner_id", "agent_id") WHERE "is_default" AND "state" <> 'revoked';
-- What the sweeper looks for.
CREATE INDEX "connection_due" ON "connection"("due_at", "id") WHERE "due_at" IS NOT NULL;
CREATE INDEX "connection_refreshing" ON "connection"("lease_until", "id") WHERE "state" = 'refreshing';
CREATE INDEX "connection_pending" ON "connection"("request_expires_at", "id") WHERE "state" = 'pending';

-- How a provider's calls are authenticated, as the last reading found it, and what the operator says about it.
ALTER TABLE "tool_provider" ADD COLUMN "security" JSONB;
ALTER TABLE "tool_provider" ADD COLUMN "is_public" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "tool_provider" ADD COLUMN "oauth" JSONB;
ALTER TABLE "tool_provider" ADD COLUMN "oauth_secret" TEXT;
