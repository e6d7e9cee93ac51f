-- What an account writes on its invoices. Without a row it issues none.
CREATE TABLE "invoicing" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "seller_name" TEXT NOT NULL,
    "seller_address" TEXT NOT NULL,
    "seller_tax_id" TEXT NOT NULL,
    "tax_label" TEXT NOT NULL,
    -- In hundredths of a percent: 1900 is 19 %. The price includes it.
    "tax_rate" INTEGER NOT NULL,
    "prefix" TEXT NOT NULL,
    "note" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoicing_pkey" PRIMARY KEY ("user_id", "environment"),
    CONSTRAINT "invoicing_rate" CHECK ("tax_rate" BETWEEN 0 AND 10000)
);

-- The last number of each year. It changes in the transaction that writes the invoice, so no number is left out.
CREATE TABLE "invoice_counter" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "year" INTEGER NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "invoice_counter_pkey" PRIMARY KEY ("user_id", "environment", "year")
);

-- An invoice as it was issued: what it says is stored, and is never changed.
CREATE TABLE "invoice" (
    "sale_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "year" INTEGER NOT NULL,
    "sequence" INTEGER NOT NULL,
    "number" TEXT NOT NULL,
    "seller" JSON NOT NULL,
    "buyer" JSON NOT NULL,
    "lines" JSON NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoice_pkey" PRIMARY KEY ("sale_id"),
    CONSTRAINT "invoice_sale_id_fkey" FOREIGN KEY ("sale_id") REFERENCES "sale"("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "invoice_user_id_environment_year_sequence_key" ON "invoice"("user_id", "environment", "year", "sequence");

CREATE FUNCTION invoice_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an invoice is never changed';
END $$;
CREATE TRIGGER invoice_is_final BEFORE UPDATE OR DELETE ON "invoice" FOR EACH ROW EXECUTE FUNCTION invoice_is_final();
