ALTER TABLE "tool_answer" ADD COLUMN "pages" JSON;
