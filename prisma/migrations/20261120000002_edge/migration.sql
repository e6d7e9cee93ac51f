CREATE TABLE "idempotent_request" (
    "scope" BYTEA NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "operation" TEXT NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "status" SMALLINT,
    "answer" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotent_request_pkey" PRIMARY KEY ("scope")
);

CREATE INDEX "idempotent_request_created_at_idx" ON "idempotent_request" ("created_at");
