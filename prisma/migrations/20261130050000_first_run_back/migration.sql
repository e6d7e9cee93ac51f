-- A plan whose first run has failed after other runs of it were used is not refunded: that run comes back.
ALTER TABLE "pass_sale" ADD COLUMN "first_run_back_at" TIMESTAMPTZ(3);
