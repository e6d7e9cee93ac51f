-- Files that sellers upload: what a checkout sells, and pictures for pages.
CREATE TYPE "file_purpose" AS ENUM ('sale', 'picture');
CREATE TABLE "file" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "purpose" "file_purpose" NOT NULL,
    "name" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    -- Null while it is uploaded.
    "sha256" BYTEA,
    "width" INTEGER,
    "height" INTEGER,
    -- An upload that has not ended by then is removed. Null once it has.
    "lease_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "file_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "file_lengths" CHECK ("bytes" > 0 AND length("name") BETWEEN 1 AND 200 AND length("media_type") <= 100),
    CONSTRAINT "file_whole" CHECK (("sha256" IS NULL) = ("lease_until" IS NOT NULL)),
    CONSTRAINT "file_picture" CHECK (("width" IS NULL) = ("height" IS NULL) AND ("purpose" <> 'picture' OR "sha256" IS NULL OR "width" > 0 AND "height" > 0))
);
CREATE INDEX "file_owner" ON "file" ("user_id", "environment", "id" DESC);
-- The same file again is the same file, so an upload can be repeated.
CREATE UNIQUE INDEX "file_same" ON "file" ("user_id", "environment", "purpose", "sha256", "name") WHERE "sha256" IS NOT NULL;
CREATE INDEX "file_unfinished" ON "file" ("lease_until") WHERE "lease_until" IS NOT NULL;

-- In pieces, so that a request never holds a whole file in memory.
CREATE TABLE "file_chunk" (
    "file_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "file_chunk_pkey" PRIMARY KEY ("file_id", "place")
);
-- They are compressed already, most of them.
ALTER TABLE "file_chunk" ALTER COLUMN "content" SET STORAGE EXTERNAL;
ALTER TABLE "file_chunk" ADD CONSTRAINT "file_chunk_file_id_fkey"
    FOREIGN KEY ("file_id") REFERENCES "file" ("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- Who shows a file or hands it out: a checkout, an account's page. While there is one the file is not deleted.
CREATE TABLE "file_use" (
    "file_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    -- What it shows today. False: only buyers of an earlier version have it.
    "current" BOOLEAN NOT NULL,
    "sold" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "file_use_pkey" PRIMARY KEY ("file_id", "subject")
);
CREATE INDEX "file_use_subject" ON "file_use" ("subject");
ALTER TABLE "file_use" ADD CONSTRAINT "file_use_file_id_fkey"
    FOREIGN KEY ("file_id") REFERENCES "file" ("id") ON DELETE CASCADE ON UPDATE RESTRICT;
