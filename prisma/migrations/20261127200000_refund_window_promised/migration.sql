-- A shorter time to report a problem holds for a sale only once no 402 can be paid any more that promised the longer one:
-- else a seller shortens it between a buyer's request and the payment.
ALTER TABLE "refund_policy" ADD COLUMN "promised_days" INTEGER, ADD COLUMN "promised_until" TIMESTAMPTZ(3);

-- In the database, as `sale_refund_window`: a process of the version before changes policies too. A 402 can be paid for ten
-- minutes, and a process remembers a policy for one.
CREATE FUNCTION refund_policy_promise() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE promised integer := 30;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    promised := greatest(OLD.window_days, CASE WHEN OLD.promised_until > NEW.updated_at THEN OLD.promised_days END);
  END IF;
  IF NEW.window_days < promised THEN
    NEW.promised_days := promised;
    NEW.promised_until := NEW.updated_at + interval '1 hour';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refund_policy_promise BEFORE INSERT OR UPDATE OF "window_days" ON "refund_policy" FOR EACH ROW
  EXECUTE FUNCTION refund_policy_promise();

CREATE OR REPLACE FUNCTION sale_refund_window() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.refund_window_days := coalesce(
    (SELECT greatest(window_days, CASE WHEN promised_until > NEW.created_at THEN promised_days END)
     FROM refund_policy WHERE user_id = NEW.user_id AND environment = NEW.environment), 30);
  RETURN NEW;
END $$;
