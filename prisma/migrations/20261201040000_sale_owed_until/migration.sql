-- A sale whose payment ended without its buyer owes its answer longer. Null for the others, and for the sales before this.
ALTER TABLE "sale" ADD COLUMN "owed_until" TIMESTAMPTZ(3);
