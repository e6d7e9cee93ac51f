-- Who somebody is at an OpenID Connect provider: the same person as the bearer of its tokens. Null for all who are here.
ALTER TABLE "signin_user"
  ADD COLUMN "issuer" TEXT,
  ADD COLUMN "subject" TEXT,
  ADD CONSTRAINT "signin_user_whole_identity" CHECK (("issuer" IS NULL) = ("subject" IS NULL));

CREATE UNIQUE INDEX "signin_user_issuer_subject_key" ON "signin_user" ("issuer", "subject");
