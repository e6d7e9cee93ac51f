-- What customers upload into the form of a checkout. It has a room of its own beside that of its seller's files.
ALTER TYPE "file_purpose" ADD VALUE 'input';
ALTER TABLE "file" ADD COLUMN "checkout_id" TEXT;
-- The first sale that names it. Null while it waits for one.
ALTER TABLE "file" ADD COLUMN "sale_id" TEXT;
ALTER TABLE "file" DROP CONSTRAINT "file_kept";
ALTER TABLE "file" ADD CONSTRAINT "file_kept" CHECK ("kept_until" IS NULL OR "purpose" NOT IN ('sale', 'picture'));
ALTER TABLE "file" ADD CONSTRAINT "file_of_checkout" CHECK (
    ("checkout_id" IS NULL) = ("purpose" IN ('sale', 'picture', 'answer')) AND ("sale_id" IS NULL OR "checkout_id" IS NOT NULL)
);
-- Two customers who upload the same bytes have two files: each is one order's.
DROP INDEX "file_same";
CREATE UNIQUE INDEX "file_same" ON "file" ("user_id", "environment", "purpose", "sha256", "name")
    WHERE "sha256" IS NOT NULL AND "checkout_id" IS NULL;
