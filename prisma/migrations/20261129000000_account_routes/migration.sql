-- A sale that an account pays is never released to be taken again: what was set aside for it goes back, and it has failed. A process of
-- the version before would release it at a gate, and leave its hold.
DROP TRIGGER sale_hold ON "sale";

CREATE CONSTRAINT TRIGGER sale_hold AFTER UPDATE OF "state" ON "sale"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW."method" = 'account' AND NEW."state" IN ('paid', 'failed', 'released') AND OLD."state" IS DISTINCT FROM NEW."state")
  EXECUTE FUNCTION sale_ends_with_hold();
