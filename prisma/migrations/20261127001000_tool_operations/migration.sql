-- Work that goes on at a tool after its call has ended: how it is asked about later, and from when.
ALTER TABLE "tool_answer"
  ADD COLUMN "operation" TEXT,
  ADD COLUMN "ask_at" TIMESTAMPTZ(3),
  ADD CONSTRAINT "tool_answer_operation" CHECK (("operation" IS NULL) = ("ask_at" IS NULL));
