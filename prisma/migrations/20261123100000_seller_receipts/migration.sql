-- The seller's receipt of an outgoing payment, as JSON text: jsonb refuses some texts that a seller may send.
ALTER TABLE "spending_payment" ADD COLUMN "receipt" TEXT;
