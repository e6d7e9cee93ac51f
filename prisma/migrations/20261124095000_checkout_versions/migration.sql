-- A checkout can be changed. What earlier versions showed is kept, so that buyers get what they were shown.
ALTER TABLE "checkout" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

CREATE TABLE "checkout_version" (
    "checkout_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "shown" JSON NOT NULL,

    CONSTRAINT "checkout_version_pkey" PRIMARY KEY ("checkout_id", "version"),
    CONSTRAINT "checkout_version_checkout_id_fkey" FOREIGN KEY ("checkout_id") REFERENCES "checkout"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
