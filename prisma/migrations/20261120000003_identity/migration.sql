CREATE TABLE "identity_user" (
    "id" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "name" TEXT,
    "email" TEXT,
    "email_confirmed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sandbox_granted_at" TIMESTAMPTZ(3),
    "production_granted_at" TIMESTAMPTZ(3),

    CONSTRAINT "identity_user_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "identity_user_issuer_subject_key" ON "identity_user" ("issuer", "subject");

CREATE TABLE "identity_api_key" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "agent_id" TEXT,
    "name" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_api_key_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "identity_api_key_hashed" CHECK (octet_length("secret_hash") = 32),
    -- The key itself says its environment; a row that says another would open the wrong wallet.
    CONSTRAINT "identity_api_key_environment" CHECK ("prefix" LIKE CASE "environment" WHEN 'production' THEN 'csk\_live\_%' ELSE 'csk\_test\_%' END),
    CONSTRAINT "identity_api_key_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity_user" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
-- Room on the page, so that a key's last use is written without touching an index.
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX "identity_api_key_secret_hash_key" ON "identity_api_key" ("secret_hash");
CREATE INDEX "identity_api_key_user_id_environment_id_idx" ON "identity_api_key" ("user_id", "environment", "id" DESC);

CREATE TABLE "identity_signing_secret" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "sealed" TEXT NOT NULL,
    "previous_sealed" TEXT,
    "previous_expires_at" TIMESTAMPTZ(3),
    "made_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_signing_secret_pkey" PRIMARY KEY ("user_id", "environment"),
    CONSTRAINT "identity_signing_secret_previous_ends" CHECK (("previous_sealed" IS NULL) = ("previous_expires_at" IS NULL)),
    CONSTRAINT "identity_signing_secret_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity_user" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "signin_user" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signin_user_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "signin_user_email_key" ON "signin_user" ("email");

CREATE TABLE "signin_session" (
    "id" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signin_session_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "signin_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "signin_user" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "signin_session_token_key" ON "signin_session" ("token");
CREATE INDEX "signin_session_user_id_idx" ON "signin_session" ("user_id");

CREATE TABLE "signin_account" (
    "id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "password" TEXT,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signin_account_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "signin_account_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "signin_user" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "signin_account_provider_id_account_id_key" ON "signin_account" ("provider_id", "account_id");
CREATE INDEX "signin_account_user_id_idx" ON "signin_account" ("user_id");

CREATE TABLE "signin_verification" (
    "id" TEXT NOT NULL,
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signin_verification_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "signin_verification_identifier_idx" ON "signin_verification" ("identifier");
CREATE INDEX "signin_verification_expires_at_idx" ON "signin_verification" ("expires_at");
