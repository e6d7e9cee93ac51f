-- The key that made this one, which is revoked with it. Null for keys that a signed-in person made.
ALTER TABLE "identity_api_key" ADD COLUMN "parent_id" TEXT;
