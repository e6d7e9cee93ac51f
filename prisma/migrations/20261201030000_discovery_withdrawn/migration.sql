-- What is not sold any more is not shown, and keeps what it is ranked by until it is sold again.
ALTER TABLE "discovery_resource" ADD COLUMN "withdrawn_at" TIMESTAMPTZ(3);

-- Pages of the list are read from the index alone, with their filters.
DROP INDEX "discovery_resource_shown";
CREATE INDEX "discovery_resource_shown" ON "discovery_resource"("score" DESC, "id")
    INCLUDE ("type", "network", "scheme", "pay_to", "extension_keys") WHERE NOT "shadowed" AND "withdrawn_at" IS NULL;
