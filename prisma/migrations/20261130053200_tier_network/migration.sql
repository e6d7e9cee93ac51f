-- Calls that were paid with test money lead to no tier of real money. Counts are those of the gate's network now; what was paid on
-- another one is taken out of them.
ALTER TABLE "paywall_tier" ADD COLUMN "network" TEXT;

UPDATE "paywall_tier" t SET "network" = p.network FROM "paywall" p WHERE p.id = t.paywall_id;

UPDATE "paywall_tier" t SET "paid" = greatest(0, t.paid - o.payments), "taken" = greatest(0, t.taken - o.payments)
FROM (
  SELECT s.subject, s.payer, s.details ->> 'route' AS route, (s.details ->> 'windowStart')::timestamptz AS window_start,
    count(*) AS payments
  FROM "sale" s JOIN "paywall" p ON p.id = s.subject
  WHERE s.product = 'gate' AND s.state IN ('paid', 'refunded') AND NOT s.simulated AND s.network <> p.network
    AND s.details ->> 'windowStart' IS NOT NULL
  GROUP BY 1, 2, 3, 4
) o
WHERE t.paywall_id = o.subject AND t.payer = o.payer AND t.route = o.route AND t.window_start = o.window_start;

-- A process of the version before names none.
CREATE FUNCTION paywall_tier_network() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.network := (SELECT network FROM paywall WHERE id = NEW.paywall_id);
  RETURN NEW;
END $$;

CREATE TRIGGER paywall_tier_network BEFORE INSERT ON "paywall_tier" FOR EACH ROW WHEN (NEW."network" IS NULL)
  EXECUTE FUNCTION paywall_tier_network();
