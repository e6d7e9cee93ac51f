CREATE TYPE "ledger_account_kind" AS ENUM ('wallet', 'credits', 'revenue', 'redeemed', 'grants', 'treasury', 'clearing');
CREATE TYPE "ledger_movement_kind" AS ENUM ('deposit', 'grant', 'reserve', 'release', 'capture', 'payout', 'transfer');
CREATE TYPE "ledger_hold_state" AS ENUM ('open', 'captured', 'released', 'expired');
CREATE TYPE "ledger_side" AS ENUM ('payer', 'receiver');

CREATE TABLE "ledger_account" (
    "id" BIGSERIAL NOT NULL,
    "environment" "environment" NOT NULL,
    "owner" TEXT NOT NULL,
    "kind" "ledger_account_kind" NOT NULL,
    "stripe" SMALLINT NOT NULL DEFAULT 0,
    "available" BIGINT NOT NULL DEFAULT 0,
    "locked" BIGINT NOT NULL DEFAULT 0,
    "deposited" BIGINT NOT NULL DEFAULT 0,
    "spent" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_account_pkey" PRIMARY KEY ("id"),
    -- The platform's own accounts stand for the world outside and may be below zero; a person's never.
    CONSTRAINT "ledger_account_solvent" CHECK ("kind" NOT IN ('wallet', 'credits') OR ("available" >= 0 AND "locked" >= 0)),
    CONSTRAINT "ledger_account_lifetime_sums" CHECK ("deposited" >= 0 AND "spent" >= 0)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX "ledger_account_owner_environment_kind_stripe_key" ON "ledger_account" ("owner", "environment", "kind", "stripe");

CREATE TABLE "ledger_movement" (
    "id" TEXT NOT NULL,
    "kind" "ledger_movement_kind" NOT NULL,
    "input_hash" BYTEA NOT NULL,
    "reference" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_movement_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ledger_posting" (
    "movement_id" TEXT NOT NULL,
    "account_id" BIGINT NOT NULL,
    "side" "ledger_side" NOT NULL,
    "kind" "ledger_movement_kind" NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "available" BIGINT NOT NULL,
    "locked" BIGINT NOT NULL,

    -- No foreign keys: the trigger below proves the account, and two look-ups a row would cost a fifth of the pace.
    CONSTRAINT "ledger_posting_pkey" PRIMARY KEY ("movement_id", "account_id", "side")
);

-- A wallet's statement lists what changed its balance; locks coming and going are not in it.
CREATE INDEX "ledger_posting_statement" ON "ledger_posting" ("account_id", "sequence" DESC) WHERE "available" + "locked" <> 0;

CREATE TABLE "ledger_hold" (
    "id" TEXT NOT NULL,
    "wallet_id" BIGINT NOT NULL,
    "credits_id" BIGINT,
    "amount" BIGINT NOT NULL,
    "from_credits" BIGINT NOT NULL DEFAULT 0,
    "captured" BIGINT NOT NULL DEFAULT 0,
    "state" "ledger_hold_state" NOT NULL DEFAULT 'open',
    "end_hash" BYTEA,
    "deadline" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_hold_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ledger_hold_amounts" CHECK ("amount" >= 0 AND "captured" BETWEEN 0 AND "amount" AND "from_credits" BETWEEN 0 AND "amount"),
    CONSTRAINT "ledger_hold_credits" CHECK ("from_credits" = 0 OR "credits_id" IS NOT NULL)
) WITH (fillfactor = 70);

CREATE INDEX "ledger_hold_open_wallet" ON "ledger_hold" ("wallet_id") WHERE "state" = 'open';
CREATE INDEX "ledger_hold_open_credits" ON "ledger_hold" ("credits_id") WHERE "state" = 'open' AND "from_credits" > 0;
CREATE INDEX "ledger_hold_open_deadline" ON "ledger_hold" ("deadline") WHERE "state" = 'open';

-- The projection. Postings come in by statement, whole movements at a time; this one place proves that each
-- movement balances within one environment and carries it into the accounts, so no statement can forget to.
CREATE FUNCTION ledger_apply() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    broken TEXT;
    accounts BIGINT[] := ARRAY(SELECT DISTINCT account_id FROM fresh);
    applied BIGINT;
BEGIN
    SELECT f.movement_id INTO broken
    FROM fresh f LEFT JOIN ledger_account a ON a.id = f.account_id
    GROUP BY f.movement_id
    HAVING sum(f.available + f.locked) <> 0 OR count(DISTINCT a.environment) <> 1 OR count(a.id) <> count(*)
    LIMIT 1;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'movement % does not balance within one environment', broken USING ERRCODE = 'integrity_constraint_violation';
    END IF;

    -- In the order of their ids, always: two batches that share accounts wait for each other, never on each other.
    PERFORM 1 FROM ledger_account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
    UPDATE ledger_account a
    SET available = a.available + d.available,
        locked = a.locked + d.locked,
        deposited = a.deposited + d.deposited,
        spent = a.spent + d.spent
    FROM (
        SELECT account_id,
               sum(available) AS available,
               sum(locked) AS locked,
               coalesce(sum(available) FILTER (WHERE side = 'receiver' AND kind IN ('deposit', 'grant')), 0) AS deposited,
               coalesce(-sum(available + locked) FILTER (WHERE side = 'payer' AND kind IN ('capture', 'transfer')), 0) AS spent
        FROM fresh
        GROUP BY account_id
    ) d
    WHERE a.id = d.account_id AND a.id = ANY (accounts);
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_posting_apply AFTER INSERT ON "ledger_posting"
REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION ledger_apply();

-- What is written stays written, whoever holds the connection.
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER ledger_posting_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_posting"
FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('the ledger is append-only');
CREATE TRIGGER ledger_movement_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_movement"
FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('the ledger is append-only');
CREATE TRIGGER ledger_account_by_postings BEFORE UPDATE ON "ledger_account"
FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ledger_refuse('only postings change an account');
CREATE TRIGGER ledger_account_born_zero BEFORE INSERT ON "ledger_account"
FOR EACH ROW WHEN (NEW.available <> 0 OR NEW.locked <> 0 OR NEW.deposited <> 0 OR NEW.spent <> 0)
EXECUTE FUNCTION ledger_refuse('an account is born empty');
CREATE TRIGGER ledger_account_kept BEFORE DELETE OR TRUNCATE ON "ledger_account"
FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('accounts are kept');
CREATE TRIGGER ledger_hold_ends_once BEFORE UPDATE ON "ledger_hold"
FOR EACH ROW WHEN (OLD.state <> 'open') EXECUTE FUNCTION ledger_refuse('a lock ends once');
CREATE TRIGGER ledger_hold_kept BEFORE DELETE OR TRUNCATE ON "ledger_hold"
FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse('locks are kept');

REVOKE UPDATE, DELETE, TRUNCATE ON "ledger_posting", "ledger_movement" FROM CURRENT_USER, PUBLIC;
REVOKE DELETE, TRUNCATE ON "ledger_account", "ledger_hold" FROM CURRENT_USER, PUBLIC;

-- Sixteen rows for each of the platform's accounts: a process posts to one of them, so that charges of
-- different people never queue behind one row.
INSERT INTO "ledger_account" ("environment", "owner", "kind", "stripe")
SELECT environment, 'platform', kind, stripe
FROM unnest(ARRAY['sandbox', 'production']::"environment"[]) AS environment,
     unnest(ARRAY['revenue', 'redeemed', 'grants', 'treasury', 'clearing']::"ledger_account_kind"[]) AS kind,
     generate_series(0, 15) AS stripe;
