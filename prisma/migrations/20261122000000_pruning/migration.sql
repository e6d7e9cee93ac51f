-- Along these the oldest rows are found, to be removed once nobody needs them. Times only ever grow, so a new row's
-- entry goes to the right end of its index, in memory; none of these columns is ever updated.
CREATE INDEX "spending_decision_at_idx" ON "spending_decision" ("at");
CREATE INDEX "spending_alert_told_at_idx" ON "spending_alert" ("told_at");
CREATE INDEX "spending_payment_answered" ON "spending_payment" ("ended_at") WHERE "answer" IS NOT NULL AND "ended_at" IS NOT NULL;
CREATE INDEX "paywall_draw_at_idx" ON "paywall_draw" ("at");
CREATE INDEX "facilitator_gas_day_idx" ON "facilitator_gas" ("day");
CREATE INDEX "signin_session_expires_at_idx" ON "signin_session" ("expires_at");

-- What a customer drew in a day, once the single draws are gone.
CREATE TABLE paywall_draw_day (
  paywall_id text NOT NULL,
  network text NOT NULL,
  payer text NOT NULL,
  day date NOT NULL,
  route text NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  amount bigint NOT NULL CHECK (amount >= 0),
  PRIMARY KEY (paywall_id, network, payer, day, route),
  FOREIGN KEY (paywall_id, network, payer) REFERENCES paywall_balance (paywall_id, network, payer)
    ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- A draw leaves only by pruning, and never without being counted in its day, whoever removes it.
CREATE OR REPLACE FUNCTION paywall_draw_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('coinslot.pruning', true) = 'on' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'a draw is never changed or removed';
END $$;
CREATE FUNCTION paywall_draw_fold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO paywall_draw_day AS d (paywall_id, network, payer, day, route, count, amount)
  SELECT paywall_id, network, payer, (at AT TIME ZONE 'UTC')::date, route, count(*), sum(amount)
  FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (paywall_id, network, payer, day, route)
    DO UPDATE SET count = d.count + excluded.count, amount = d.amount + excluded.amount;
  RETURN NULL;
END $$;
CREATE TRIGGER paywall_draw_fold AFTER DELETE ON paywall_draw
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION paywall_draw_fold();
