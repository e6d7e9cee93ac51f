-- A sale keeps the time in which a problem with it can be reported, as its 402 said. Null for the sales before this: the
-- policy of today decides about them.
ALTER TABLE "sale" ADD COLUMN "refund_window_days" INTEGER;

-- Here, because every product and a process of the version before must store it. Without a policy the service's default
-- holds (`DEFAULT_POLICY` of service/disputes/model.ts).
CREATE FUNCTION sale_refund_window() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.refund_window_days := coalesce(
    (SELECT window_days FROM refund_policy WHERE user_id = NEW.user_id AND environment = NEW.environment), 30);
  RETURN NEW;
END $$;
CREATE TRIGGER sale_refund_window BEFORE INSERT ON "sale" FOR EACH ROW WHEN (NEW."user_id" IS NOT NULL)
  EXECUTE FUNCTION sale_refund_window();
