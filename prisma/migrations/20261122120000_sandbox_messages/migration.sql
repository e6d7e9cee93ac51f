-- What the sandbox would have sent to people, and what its own receiver of deliveries was sent.
CREATE TABLE "sandbox_message" (
  "id" BIGSERIAL PRIMARY KEY,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('mail', 'delivery')),
  "content" JSON NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "sandbox_message_kind_id_idx" ON "sandbox_message" ("kind", "id");
