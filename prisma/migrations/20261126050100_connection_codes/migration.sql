-- A connection that waits for a person to enter a code at its provider (RFC 8628): when its token is asked for next.
-- Whoever asks moves the time ahead first, so that one process does.
ALTER TABLE "connection" ADD COLUMN "poll_at" TIMESTAMPTZ(3);
ALTER TABLE "connection" ADD COLUMN "poll_interval_seconds" INTEGER;
CREATE INDEX "connection_poll" ON "connection"("poll_at", "id") WHERE "poll_at" IS NOT NULL;
