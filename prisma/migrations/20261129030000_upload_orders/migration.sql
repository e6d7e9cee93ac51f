-- Every order that names a customer's upload holds it, until it fails.
INSERT INTO "file_use" ("file_id", "subject", "current") SELECT "id", "sale_id", true FROM "file" WHERE "sale_id" IS NOT NULL;
ALTER TABLE "file" DROP CONSTRAINT "file_of_checkout";
ALTER TABLE "file" DROP COLUMN "sale_id";
-- What an order without money is promised, which stays where the sale that it became fails.
ALTER TABLE "file" ADD COLUMN "promised_until" TIMESTAMPTZ(3);
ALTER TABLE "file" ADD CONSTRAINT "file_of_checkout" CHECK (("checkout_id" IS NULL) = ("purpose" IN ('sale', 'picture', 'answer')));
