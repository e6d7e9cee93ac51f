-- A checkout may be a conversation: its greeting. Null: it is none.
ALTER TABLE "checkout" ADD COLUMN "chat" JSON;

-- The order of the messages of a chat. Each is a sale, which has the message; its delivery has the answer.
CREATE TABLE "chat_turn" (
    "sale_id" TEXT NOT NULL,
    "pass_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_turn_pkey" PRIMARY KEY ("sale_id"),
    CHECK ("number" > 0)
);
CREATE UNIQUE INDEX "chat_turn_pass_id_number_key" ON "chat_turn" ("pass_id", "number");
CREATE INDEX "chat_turn_owner" ON "chat_turn" ("user_id", "environment", "created_at");
