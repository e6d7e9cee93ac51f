-- True from the claim of a call whose money is taken before its tool is asked, until the tool has answered with success.
ALTER TABLE "tool_payment" ADD COLUMN "owed" BOOLEAN NOT NULL DEFAULT false;
