-- Every order that names a customer's upload holds it, until it fails. `sale_id` had the first one's: the version before still
-- reads and writes it.
INSERT INTO "file_use" ("file_id", "subject", "current") SELECT "id", "sale_id", true FROM "file" WHERE "sale_id" IS NOT NULL;
-- What an order without money is promised, which stays where the sale that it became fails.
ALTER TABLE "file" ADD COLUMN "promised_until" TIMESTAMPTZ(3);
