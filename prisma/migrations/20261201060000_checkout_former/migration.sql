-- What an account does not sell any more, the latest first: those who have paid are still answered at its MCP address.
CREATE INDEX "checkout_former" ON "checkout" ("user_id", "environment", (coalesce("expired_at", "paused_at", "leased_until")) DESC, "id" DESC)
    WHERE "lifetime" = 'persistent' AND ("state" <> 'active' OR "leased_until" IS NOT NULL);
