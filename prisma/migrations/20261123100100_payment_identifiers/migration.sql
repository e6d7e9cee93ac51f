-- The id that a client chose for its payment. A payer uses an id once; the claim of a sale is where that is decided.
ALTER TABLE "sale" ADD COLUMN "identifier" TEXT;
CREATE UNIQUE INDEX "sale_payer_identifier_key" ON "sale" ("payer", "identifier") WHERE "identifier" IS NOT NULL;
