-- MCP clients that registered themselves, and what account owners allowed to clients.
CREATE TABLE "oauth_client" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "redirect_uris" TEXT[] NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_client_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "oauth_client_expires_at_id_idx" ON "oauth_client" ("expires_at", "id");

CREATE TABLE "oauth_grant" (
    "key_id" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "client_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "redeemed_at" TIMESTAMPTZ(3),
    "family_hash" BYTEA,
    "refresh_hash" BYTEA,
    "access_hash" BYTEA,
    "access_expires_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_grant_pkey" PRIMARY KEY ("key_id")
);
CREATE UNIQUE INDEX "oauth_grant_code_hash_key" ON "oauth_grant" ("code_hash");
CREATE UNIQUE INDEX "oauth_grant_family_hash_key" ON "oauth_grant" ("family_hash");
CREATE UNIQUE INDEX "oauth_grant_access_hash_key" ON "oauth_grant" ("access_hash");
CREATE INDEX "oauth_grant_expires_at_key_id_idx" ON "oauth_grant" ("expires_at", "key_id");
