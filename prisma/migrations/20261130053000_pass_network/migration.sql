-- A pass is good on the network on which it was paid, and on no other. A seller who changed the network before this may have passes that
-- both kinds of money paid for: whoever has paid real money for one keeps it. The test networks are those of `is_real_sale`.
ALTER TABLE "pass" ADD COLUMN "network" TEXT;

UPDATE "pass" p SET "network" = coalesce((
  SELECT s.network FROM "pass_sale" b JOIN "sale" s ON s.id = b.sale_id WHERE b.pass_id = p.id
  ORDER BY b.revoked_at IS NOT NULL, s.network IN ('base-sepolia'), s.id DESC LIMIT 1
), (SELECT c.network FROM "checkout" c WHERE c.id = p.checkout_id), 'base-sepolia');

-- A process of the version before names none.
CREATE FUNCTION pass_network() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.network := (SELECT network FROM checkout WHERE id = NEW.checkout_id);
  RETURN NEW;
END $$;

CREATE TRIGGER pass_network BEFORE INSERT ON "pass" FOR EACH ROW WHEN (NEW."network" IS NULL) EXECUTE FUNCTION pass_network();
