-- Since when a connection's renewal fails: an outage of its provider ends it only after days.
ALTER TABLE "connection" ADD COLUMN "failing_since" TIMESTAMPTZ(3);
