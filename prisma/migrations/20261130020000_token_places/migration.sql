-- A client may pay with one token of its choice at several gates.
ALTER TABLE "paywall_token" DROP CONSTRAINT "paywall_token_pkey",
  ADD CONSTRAINT "paywall_token_pkey" PRIMARY KEY ("hash", "paywall_id", "network");
