-- Which of a wallet's deposits paid for a sale is asked by the transaction.
CREATE INDEX "checkout_payment_tx" ON "checkout_payment" ("tx_hash") WHERE "tx_hash" IS NOT NULL;
CREATE INDEX "paywall_payment_tx" ON "paywall_payment" ("tx_hash") WHERE "tx_hash" IS NOT NULL;
