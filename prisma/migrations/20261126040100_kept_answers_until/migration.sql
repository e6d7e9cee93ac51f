-- What a tool answered, where that was too large to be sent: a file that is removed then.
ALTER TABLE "file" ADD COLUMN "kept_until" TIMESTAMPTZ(3);
ALTER TABLE "file" ADD CONSTRAINT "file_kept" CHECK ("kept_until" IS NULL OR "purpose" = 'answer');
CREATE INDEX "file_ends" ON "file" ("kept_until") WHERE "kept_until" IS NOT NULL;
