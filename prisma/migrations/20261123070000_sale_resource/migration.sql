-- The address that was paid for, for receipts. Sales of before have none.
ALTER TABLE "sale" ADD COLUMN "resource" TEXT;
