-- Whether a wallet that signs in has a payment that was not refunded. Only sales at routes with a sign-in are in it.
CREATE INDEX "sale_sign_in" ON "sale" (("details" ->> 'pass'), "payer") WHERE "details" ->> 'pass' IS NOT NULL;
