-- About what the owner of a checkout is mailed: each sale, and each sale whose delivery failed. The release before writes
-- neither column, and its checkouts have the defaults.
ALTER TABLE "checkout" ADD COLUMN "notify_sale" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "checkout" ADD COLUMN "notify_failure" BOOLEAN NOT NULL DEFAULT true;

-- What an account is mailed of its sales: the first of an hour each by itself, the others in one mail for all of them.
CREATE TABLE "sale_notice" (
    "sale_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    -- The work that mails it: another one for the same sale mails nothing.
    "announcement" TEXT NOT NULL,
    -- It has a mail of its own.
    "alone" BOOLEAN NOT NULL,
    -- It waits for the mail for all of them.
    "waits" BOOLEAN NOT NULL,

    CONSTRAINT "sale_notice_pkey" PRIMARY KEY ("sale_id", "kind"),
    CONSTRAINT "sale_notice_kind" CHECK ("kind" IN ('sale', 'failure'))
);

CREATE INDEX "sale_notice_alone" ON "sale_notice"("user_id", "environment", "kind", "at") WHERE "alone";
CREATE INDEX "sale_notice_waits" ON "sale_notice"("at") WHERE "waits";
CREATE INDEX "sale_notice_age" ON "sale_notice"("at", "sale_id", "kind");
