-- Since when the checks before payments have answered with server errors, and the last of them. A process of the version before
-- leaves both as they are: without another error soon after it, an old one counts for nothing.
ALTER TABLE "checkout" ADD COLUMN "failing_since" TIMESTAMPTZ(3), ADD COLUMN "failing_at" TIMESTAMPTZ(3);
