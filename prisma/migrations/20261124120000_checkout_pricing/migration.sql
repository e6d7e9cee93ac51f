-- The price of a checkout may depend on a quantity, on the buyer, on a field of the form, or on a code.
ALTER TABLE "checkout"
  ADD COLUMN "pricing" JSON NOT NULL DEFAULT '{"kind":"fixed"}',
  ADD COLUMN "coupons" BOOLEAN NOT NULL DEFAULT false;
