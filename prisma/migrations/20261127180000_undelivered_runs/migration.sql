-- Runs of assets that were paid and not delivered: few, and only while they are open.
CREATE INDEX "sale_undelivered" ON "sale" ("ended_at")
  WHERE "product" = 'asset' AND "state" = 'paid' AND "handover" = 'none';
