-- Up to which block the transfers to an order are still to be searched for their senders.
ALTER TABLE "payment_address" ADD COLUMN "search_to" BIGINT;
CREATE INDEX "payment_address_search" ON "payment_address" ("network") WHERE "search_to" IS NOT NULL;
