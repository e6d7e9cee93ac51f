-- An account's deliveries in one state, newest first, and how many there are. Nearly all are delivered, and those are not in it.
CREATE INDEX "delivery_undelivered" ON "delivery" ("user_id", "environment", "state", "id" DESC) WHERE "state" <> 'delivered';
