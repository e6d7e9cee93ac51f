-- The money of a sale may wait in the escrow while its work is done.
ALTER TYPE "checkout_capture" ADD VALUE 'escrow';

ALTER TABLE "sale"
  ADD COLUMN "escrow" JSON,
  -- These also stop the version before, which knows neither the capture nor the void: what it cannot end, the next one does.
  ADD CONSTRAINT "sale_escrow_captured" CHECK ("escrow" IS NULL OR "state" NOT IN ('paid', 'refunded') OR coalesce("result" ->> 'status' = 'succeeded', false)),
  ADD CONSTRAINT "sale_escrow_ended" CHECK ("escrow" IS NULL OR "state" <> 'failed' OR "result" IS NULL OR "escrow" ->> 'end' IS NOT NULL),
  ADD CONSTRAINT "sale_escrow_held" CHECK ("escrow" IS NULL OR "state" <> 'held' OR "escrow" ->> 'authorizedTx' IS NOT NULL);
