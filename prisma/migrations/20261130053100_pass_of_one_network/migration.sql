-- A process of the version before would add a payment to a pass of another network: its transaction is undone, and the sweeper of a
-- process of this version ends the sale.
CREATE FUNCTION pass_of_one_network() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM pass p JOIN sale s ON s.id = NEW.sale_id WHERE p.id = NEW.pass_id AND p.network <> s.network
  ) THEN
    RAISE EXCEPTION 'sale % was paid on another network than pass %', NEW.sale_id, NEW.pass_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER pass_of_one_network AFTER INSERT ON "pass_sale" FOR EACH ROW EXECUTE FUNCTION pass_of_one_network();
