-- For a minute, a refresh token that was exchanged gives the same tokens again.
ALTER TABLE "oauth_grant" ADD COLUMN "previous_refresh_hash" BYTEA, ADD COLUMN "rotation_salt" BYTEA,
  ADD COLUMN "rotated_at" TIMESTAMPTZ(3);
