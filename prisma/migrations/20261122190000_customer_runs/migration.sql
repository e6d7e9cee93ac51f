-- What customers ran of an asset, newest first, for its creator; a creator's own runs are no customer's.
CREATE INDEX "run_of_customers" ON "run" ("owner_id", "environment", "rda_id", "id" DESC) WHERE "user_id" <> "owner_id";
