-- Of a refund that was requested with an `Idempotency-Key`: the nonce of its transfer. Null: it follows from the id.
ALTER TABLE "refund" ADD COLUMN "nonce" BYTEA;
