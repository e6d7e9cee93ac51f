-- What a paying customer says of an asset beside the rating, and its creator's one answer.
ALTER TABLE "rda_rating"
  ADD COLUMN "text" TEXT,
  ADD COLUMN "reply" TEXT,
  ADD COLUMN "replied_at" TIMESTAMPTZ(3),
  ADD COLUMN "hidden_at" TIMESTAMPTZ(3),
  ADD CONSTRAINT "rda_rating_text" CHECK (char_length("text") BETWEEN 1 AND 1000),
  ADD CONSTRAINT "rda_rating_reply" CHECK ("reply" IS NULL OR (char_length("reply") BETWEEN 1 AND 1000 AND "text" IS NOT NULL)),
  ADD CONSTRAINT "rda_rating_replied" CHECK (("reply" IS NULL) = ("replied_at" IS NULL)),
  ADD CONSTRAINT "rda_rating_hidden" CHECK ("hidden_at" IS NULL OR "text" IS NOT NULL);

-- A review is named by the act that made it, which begins with its time.
CREATE UNIQUE INDEX "rda_review" ON "rda_rating" ("made_by") WHERE "text" IS NOT NULL;
CREATE INDEX "rda_review_of_asset" ON "rda_rating" ("rda_id", "made_by" DESC) WHERE "text" IS NOT NULL AND "hidden_at" IS NULL;
CREATE INDEX "rda_review_of_user" ON "rda_rating" ("user_id", "created_at") WHERE "text" IS NOT NULL;
