-- The method that a sale was begun with. Null for sales from before this and for those of a process of the version before:
-- their other columns say it (`methodOfRow` in service/sales/store/rows.ts), and the sweeper `sales.methods` writes it to them
-- little by little, because one statement for all rows would keep them locked for too long.
CREATE TYPE "sale_method" AS ENUM ('exact', 'auth-capture', 'mpp-charge', 'remote', 'simulated', 'free');

-- The constraint is not checked for the rows that exist: none of them has a method.
ALTER TABLE "sale"
  ADD COLUMN "method" "sale_method",
  ADD COLUMN "facilitator" TEXT,
  ADD CONSTRAINT "sale_facilitator" CHECK (("method" = 'remote') = ("facilitator" IS NOT NULL)) NOT VALID;
