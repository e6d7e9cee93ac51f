-- What an account refunded in 24 hours without an answer of its own: by its policy, or at a deadline.
CREATE INDEX "dispute_unasked" ON "dispute" ("user_id", "environment", "decided_at") WHERE "decided_by" IN ('policy', 'deadline');
DROP INDEX "dispute_automatic";
