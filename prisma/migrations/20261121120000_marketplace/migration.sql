CREATE TYPE "rda_type" AS ENUM ('prompt', 'agent', 'tool');
CREATE TYPE "rda_status" AS ENUM ('draft', 'published', 'archived');
CREATE TYPE "rda_pricing_model" AS ENUM ('per-run', 'per-token', 'per-second', 'free');

-- English stems without stop words: a search for "the who" finds what is called so, and no search is empty.
CREATE TEXT SEARCH DICTIONARY "coinslot_stem" (TEMPLATE = snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION "coinslot" (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION "coinslot" ALTER MAPPING FOR asciiword, asciihword, hword_asciipart, word, hword, hword_part WITH "coinslot_stem";

CREATE TABLE "rda_creator" (
    "user_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "name" TEXT,
    "verified" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "rda_creator_pkey" PRIMARY KEY ("user_id")
);

CREATE INDEX "rda_creator_subject_idx" ON "rda_creator" ("subject");

CREATE TABLE "rda" (
    "id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "type" "rda_type" NOT NULL,
    "status" "rda_status" NOT NULL DEFAULT 'draft',
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "cover_image" TEXT,
    "version" TEXT NOT NULL,
    "pricing_model" "rda_pricing_model" NOT NULL,
    "pricing_amount" BIGINT NOT NULL,
    "verified" BOOLEAN NOT NULL DEFAULT false,
    "featured" BOOLEAN NOT NULL DEFAULT false,
    "trending" BOOLEAN NOT NULL DEFAULT false,
    "callers" INTEGER NOT NULL DEFAULT 0,
    "rank" INTEGER NOT NULL DEFAULT 0,
    "search" TSVECTOR NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "rda_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "rda_priced" CHECK ("pricing_amount" >= 0 AND ("pricing_model" <> 'free' OR "pricing_amount" = 0)),
    CONSTRAINT "rda_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "rda_creator" ("user_id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE UNIQUE INDEX "rda_environment_slug_key" ON "rda" ("environment", "slug");
-- What is listed, in the order of the list: a page is read off the index, whatever it is filtered by.
CREATE INDEX "rda_listed" ON "rda" ("environment", "rank" DESC, "id" DESC) WHERE "status" = 'published';
CREATE INDEX "rda_listed_type" ON "rda" ("environment", "type", "rank" DESC, "id" DESC) WHERE "status" = 'published';
CREATE INDEX "rda_verified" ON "rda" ("environment", "rank" DESC, "id" DESC) WHERE "status" = 'published' AND "verified";
CREATE INDEX "rda_verified_type" ON "rda" ("environment", "type", "rank" DESC, "id" DESC) WHERE "status" = 'published' AND "verified";
CREATE INDEX "rda_featured" ON "rda" ("environment", "rank" DESC, "id" DESC) WHERE "status" = 'published' AND "featured";
CREATE INDEX "rda_trending" ON "rda" ("environment", "rank" DESC, "id" DESC) WHERE "status" = 'published' AND "trending";
CREATE INDEX "rda_owner_id_environment_status_rank_id_idx" ON "rda" ("owner_id", "environment", "status", "rank" DESC, "id" DESC);
-- One for each environment: the words of one are never looked through for the other.
CREATE INDEX "rda_search_sandbox" ON "rda" USING gin ("search") WITH (fastupdate = off) WHERE "status" = 'published' AND "environment" = 'sandbox';
CREATE INDEX "rda_search_production" ON "rda" USING gin ("search") WITH (fastupdate = off) WHERE "status" = 'published' AND "environment" = 'production';
-- The same of those that stand out: a word of thousands of assets fills its first pages from these few.
CREATE INDEX "rda_search_sandbox_top" ON "rda" USING gin ("search") WITH (fastupdate = off) WHERE "status" = 'published' AND "environment" = 'sandbox' AND "rank" > 0;
CREATE INDEX "rda_search_production_top" ON "rda" USING gin ("search") WITH (fastupdate = off) WHERE "status" = 'published' AND "environment" = 'production' AND "rank" > 0;
-- Whose standing the sweeper has to look at again although nobody ran them lately.
CREATE INDEX "rda_called" ON "rda" ("id") WHERE "callers" > 0 OR "trending";

CREATE TABLE "rda_version" (
    "rda_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "long_description" TEXT,
    "tags" TEXT[] NOT NULL,
    "code_snippet" TEXT,
    "code_language" TEXT,
    "content" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rda_version_pkey" PRIMARY KEY ("rda_id", "version"),
    CONSTRAINT "rda_version_rda_id_fkey" FOREIGN KEY ("rda_id") REFERENCES "rda" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "rda_stats" (
    "rda_id" TEXT NOT NULL,
    "runs" BIGINT NOT NULL DEFAULT 0,
    "succeeded" BIGINT NOT NULL DEFAULT 0,
    "revenue" BIGINT NOT NULL DEFAULT 0,
    "latency_ms" BIGINT NOT NULL DEFAULT 0,
    "ratings" INTEGER NOT NULL DEFAULT 0,
    "rating_sum" INTEGER NOT NULL DEFAULT 0,
    "cost_least" BIGINT,
    "cost_most" BIGINT,

    CONSTRAINT "rda_stats_pkey" PRIMARY KEY ("rda_id"),
    CONSTRAINT "rda_stats_rda_id_fkey" FOREIGN KEY ("rda_id") REFERENCES "rda" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
-- Room on the page: a busy asset's figures are written every second and touch no index.
) WITH (fillfactor = 70);

CREATE TABLE "rda_rating" (
    "rda_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "score" SMALLINT NOT NULL,
    "made_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rda_rating_pkey" PRIMARY KEY ("rda_id", "user_id"),
    CONSTRAINT "rda_rating_score" CHECK ("score" BETWEEN 1 AND 5),
    CONSTRAINT "rda_rating_rda_id_fkey" FOREIGN KEY ("rda_id") REFERENCES "rda" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "rda_source_sale" (
    "rda_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "price" BIGINT NOT NULL,
    "sold_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rda_source_sale_pkey" PRIMARY KEY ("rda_id", "user_id"),
    CONSTRAINT "rda_source_sale_rda_id_fkey" FOREIGN KEY ("rda_id") REFERENCES "rda" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "rda_total" (
    "environment" "environment" NOT NULL,
    "owner_id" TEXT NOT NULL,
    "status" "rda_status" NOT NULL,
    "type" "rda_type" NOT NULL,
    "verified" BOOLEAN NOT NULL,
    "featured" BOOLEAN NOT NULL,
    "trending" BOOLEAN NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "rda_total_pkey" PRIMARY KEY ("environment", "owner_id", "status", "type", "verified", "featured", "trending")
) WITH (fillfactor = 50);

CREATE TABLE "rda_word" (
    "environment" "environment" NOT NULL,
    "word" TEXT COLLATE "C" NOT NULL,
    "type" "rda_type" NOT NULL,
    "verified" BOOLEAN NOT NULL,
    "featured" BOOLEAN NOT NULL,
    "trending" BOOLEAN NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "rda_word_pkey" PRIMARY KEY ("environment", "word", "type", "verified", "featured", "trending")
) WITH (fillfactor = 70);

-- What an asset is found by follows from its other columns, whoever writes them.
CREATE FUNCTION "rda_derive"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.name, NEW.description) IS DISTINCT FROM (OLD.name, OLD.description) THEN
    -- Without the words' places, which nothing asks for and which are a third of it.
    NEW.search := strip(to_tsvector('coinslot', NEW.name || ' ' || NEW.description));
  END IF;
  NEW.rank := CASE WHEN NEW.trending THEN 1000000000 ELSE 0 END + least(NEW.callers, 50000) * 10000
    + CASE WHEN NEW.featured THEN 5000 ELSE 0 END + CASE WHEN NEW.verified THEN 2000 ELSE 0 END;
  RETURN NEW;
END $$;

CREATE TRIGGER "rda_derive" BEFORE INSERT OR UPDATE ON "rda" FOR EACH ROW EXECUTE FUNCTION "rda_derive"();

-- Exact totals at any size, of everybody's (an empty owner) and of each owner's, and of each word of what is
-- published. A statement counts all its rows at once and in one order, so that two never wait for each other in
-- a circle.
CREATE FUNCTION "rda_count"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  gone "rda"[];
  come "rda"[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(a) INTO come FROM after a;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(b) INTO gone FROM before b;
  ELSE
    SELECT array_agg(b), array_agg(a) INTO gone, come FROM before b JOIN after a USING (id)
    WHERE (b.status, b.verified, b.featured, b.trending, b.search)
      IS DISTINCT FROM (a.status, a.verified, a.featured, a.trending, a.search);
  END IF;
  IF gone IS NULL AND come IS NULL THEN RETURN NULL; END IF;

  INSERT INTO "rda_total" AS t
  SELECT c.environment, o.owner_id, c.status, c.type, c.verified, c.featured, c.trending, sum(c.change)
  FROM (SELECT a.*, 1 AS change FROM unnest(come) a UNION ALL SELECT b.*, -1 FROM unnest(gone) b) c
    CROSS JOIN LATERAL (VALUES (''), (c.owner_id)) o (owner_id)
  GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(c.change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7
  ON CONFLICT ON CONSTRAINT "rda_total_pkey" DO UPDATE SET total = t.total + excluded.total;

  INSERT INTO "rda_word" AS t
  SELECT c.environment, w.word, c.type, c.verified, c.featured, c.trending, sum(c.change)
  FROM (SELECT a.*, 1 AS change FROM unnest(come) a UNION ALL SELECT b.*, -1 FROM unnest(gone) b) c
    CROSS JOIN LATERAL (SELECT u COLLATE "C" FROM unnest(tsvector_to_array(c.search)) u) w (word)
  WHERE c.status = 'published'
  GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(c.change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ON CONSTRAINT "rda_word_pkey" DO UPDATE SET total = t.total + excluded.total;
  RETURN NULL;
END $$;

CREATE TRIGGER "rda_count_insert" AFTER INSERT ON "rda" REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "rda_count"();
CREATE TRIGGER "rda_count_update" AFTER UPDATE ON "rda" REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "rda_count"();
CREATE TRIGGER "rda_count_delete" AFTER DELETE ON "rda" REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION "rda_count"();
