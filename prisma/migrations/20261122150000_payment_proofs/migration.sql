-- The hash of a token that the buyer chose: with it an answer that got lost is fetched again. Null where none was sent.
ALTER TABLE checkout_payment ADD COLUMN token_hash bytea;
ALTER TABLE tool_payment ADD COLUMN token_hash bytea;
-- From then on the authorization may be public and proves nothing.
ALTER TABLE tool_payment ADD COLUMN submitted boolean NOT NULL DEFAULT false;
