-- The secrets before the previous one, newest first, each as {sealed, expiresAt}: they sign until their promised end. A process of the
-- version before leaves them as they are.
ALTER TABLE "delivery_target" ADD COLUMN "earlier_sealed" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "identity_signing_secret" ADD COLUMN "earlier_sealed" JSONB NOT NULL DEFAULT '[]';
