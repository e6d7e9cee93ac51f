-- The sites that may show a checkout's payment page in a frame.
ALTER TABLE "checkout" ADD COLUMN "embed_origins" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
