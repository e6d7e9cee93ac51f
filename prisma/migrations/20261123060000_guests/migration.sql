-- The wallet of all who buy without an account.
INSERT INTO "ledger_account" ("environment", "owner", "kind")
SELECT environment, 'usr_guests', kind
FROM unnest(ARRAY['sandbox', 'production']::"environment"[]) AS environment,
     unnest(ARRAY['wallet', 'credits']::"ledger_account_kind"[]) AS kind;
