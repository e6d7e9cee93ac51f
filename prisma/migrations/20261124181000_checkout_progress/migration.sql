-- What a seller's workflow writes while it works. Shown until it has ended, and deleted a day later.
CREATE TABLE "checkout_progress" (
    "payment_id" TEXT NOT NULL,
    -- The latest lines.
    "lines" JSON NOT NULL,
    -- How many were written in all.
    "written" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkout_progress_pkey" PRIMARY KEY ("payment_id")
);
CREATE INDEX "checkout_progress_updated_at_payment_id_idx" ON "checkout_progress" ("updated_at", "payment_id");
