-- What was paid with test money in production is taken out of the sums that were counted before `is_real_sale`. Payments go on
-- meanwhile, so the rows of a sum are locked first and the sales are read after it: a payment is either read, or counts later. Gates come
-- before customers, as in the transaction of a payment. Invoices stay as they were issued.

-- The rows of a gate's sums are written by those who hold the gate's own row. No test money is counted there any more.
SELECT 1 FROM "paywall" WHERE "id" IN (
  SELECT s.subject FROM "sale" s
  WHERE s.product = 'gate' AND s.state IN ('paid', 'refunded') AND NOT s.simulated
    AND NOT is_real_sale(s.environment, s.network, s.simulated)
) ORDER BY "id" FOR NO KEY UPDATE;

UPDATE "paywall_day" d SET "count" = greatest(0, d.count - t.payments), "amount" = greatest(0, d.amount - t.amount)
FROM (
  SELECT s.subject, (s.ended_at AT TIME ZONE 'UTC')::date AS day, s.details ->> 'route' AS route, count(*) AS payments,
    sum(s.amount)::bigint AS amount
  FROM "sale" s
  WHERE s.product = 'gate' AND s.state IN ('paid', 'refunded') AND NOT s.simulated
    AND NOT is_real_sale(s.environment, s.network, s.simulated)
  GROUP BY 1, 2, 3
) t
WHERE d.paywall_id = t.subject AND d.day = t.day AND d.route = t.route AND d.outcome = 'paid';

WITH test AS (
  SELECT s.subject, s.payer, count(*) AS payments, sum(s.amount)::bigint AS amount
  FROM "sale" s
  WHERE s.product = 'gate' AND s.state IN ('paid', 'refunded') AND NOT s.simulated
    AND NOT is_real_sale(s.environment, s.network, s.simulated)
  GROUP BY 1, 2
), gone AS (
  DELETE FROM "paywall_customer" c USING test t
  WHERE c.paywall_id = t.subject AND c.payer = t.payer AND c.payments <= t.payments
  RETURNING c.paywall_id
), fewer AS (
  UPDATE "paywall_customer" c SET "payments" = c.payments - t.payments, "revenue" = c.revenue - t.amount
  FROM test t WHERE c.paywall_id = t.subject AND c.payer = t.payer AND c.payments > t.payments
)
UPDATE "paywall" p SET "revenue" = greatest(0, p.revenue - t.amount),
  "customers" = greatest(0, p.customers - (SELECT count(*) FROM gone g WHERE g.paywall_id = p.id)::int)
FROM (SELECT subject, sum(amount)::bigint AS amount FROM test GROUP BY 1) t WHERE p.id = t.subject;

-- The customers of sellers, each counted anew from the sales that are left.
CREATE TEMPORARY TABLE "recounted" ON COMMIT DROP AS
SELECT DISTINCT s.user_id, s.environment, sale_customer_key(s) AS "key" FROM "sale" s
WHERE s.user_id IS NOT NULL AND s.state IN ('paid', 'refunded') AND NOT s.simulated
  AND NOT is_real_sale(s.environment, s.network, s.simulated);

SELECT 1 FROM "sale_customer" c JOIN "recounted" r USING ("user_id", "environment", "key")
ORDER BY c.user_id, c.environment, c.key FOR UPDATE OF c;

WITH found AS (
  SELECT r.user_id, r.environment, r.key, (array_agg(s.payer ORDER BY s.id DESC))[1] AS payer, count(*) AS payments,
    sum(s.amount)::bigint AS paid, sum(s.refunded)::bigint AS refunded, min(s.created_at) AS first_at, max(s.id) AS last_id,
    max(s.created_at) AS last_at
  FROM "recounted" r JOIN "sale" s
    ON s.user_id = r.user_id AND s.environment = r.environment AND sale_customer_key(s) = r.key AND sale_has_customer(s)
  GROUP BY 1, 2, 3
), gone AS (
  DELETE FROM "sale_customer" c USING "recounted" r
  WHERE c.user_id = r.user_id AND c.environment = r.environment AND c.key = r.key
    AND NOT EXISTS (SELECT FROM found f WHERE f.user_id = r.user_id AND f.environment = r.environment AND f.key = r.key)
)
UPDATE "sale_customer" c SET "payer" = f.payer, "by_transfer" = paid_by_transfer(f.payer), "payments" = f.payments,
  "paid" = f.paid, "refunded" = f.refunded, "first_at" = f.first_at, "last_id" = f.last_id, "last_at" = f.last_at
FROM found f WHERE c.user_id = f.user_id AND c.environment = f.environment AND c.key = f.key;
