-- Who may ask for captures and voids of a payment in the escrow, as it was authorized; the zero address is nobody. Null for
-- payments that an earlier version authorized, and for captures and voids themselves.
ALTER TABLE "facilitator_settlement" ADD COLUMN "authorizer" BYTEA;
