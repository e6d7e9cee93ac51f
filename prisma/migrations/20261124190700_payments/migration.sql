-- A seller's sales of one product in one state, newest first: a filtered list reads no other rows.
CREATE INDEX "sale_owner_kind" ON "sale" ("user_id", "environment", "product", "state", "id" DESC) WHERE "user_id" IS NOT NULL;

-- Those of one buyer, by the address for the receipt.
CREATE INDEX "sale_owner_email" ON "sale" ("user_id", "environment", lower("details" #>> '{receipt,email}'), "id" DESC)
  WHERE "user_id" IS NOT NULL AND "details" #>> '{receipt,email}' IS NOT NULL;
