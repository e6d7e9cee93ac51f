-- The public names of accounts. A name that was given up stays its account's for a while.
CREATE TABLE "identity_handle" (
    "handle" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "released_at" TIMESTAMPTZ(3),

    CONSTRAINT "identity_handle_pkey" PRIMARY KEY ("handle")
);
CREATE INDEX "identity_handle_released_at_handle_idx" ON "identity_handle" ("released_at", "handle");
ALTER TABLE "identity_handle" ADD CONSTRAINT "identity_handle_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity_user" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
-- An account has one name at a time.
CREATE UNIQUE INDEX "identity_handle_current" ON "identity_handle" ("user_id") WHERE "released_at" IS NULL;

-- What an account sells, without what it sold before.
CREATE INDEX "checkout_offered" ON "checkout" ("user_id", "environment", "id") WHERE "state" = 'active' AND "lifetime" = 'persistent';
CREATE INDEX "rda_offered" ON "rda" ("owner_id", "environment", "id") WHERE "status" = 'published';
