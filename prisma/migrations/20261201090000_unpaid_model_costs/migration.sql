-- What vendors billed for failed runs, which nobody pays: of a creator's prompts (caller '') and of a caller (owner '').
ALTER TABLE "run_free" ADD COLUMN "unpaid" BIGINT NOT NULL DEFAULT 0 CHECK (unpaid >= 0);
