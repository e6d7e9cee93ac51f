-- How many imports an account has begun in its present hour: one row that is overwritten.
CREATE TABLE "tool_import" (
    "environment" "environment" NOT NULL,
    "owner_id" TEXT NOT NULL,
    "window_at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "tool_import_pkey" PRIMARY KEY ("environment", "owner_id"),
    CONSTRAINT "tool_import_counted" CHECK ("count" > 0)
);

-- One owner's tools are read without looking at anybody else's, a page at a time, and what changed last is its end.
CREATE INDEX "tool_environment_owner_id_change_id_idx" ON "tool" ("environment", "owner_id", "change", "id");
