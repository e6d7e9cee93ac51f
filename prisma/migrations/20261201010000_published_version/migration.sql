-- The version that was published last: what everybody but its owner reads and runs of an asset that is a draft again, or archived.
ALTER TABLE "rda" ADD COLUMN "published_version" TEXT;

-- Of an asset that is not published now, the newest version that was there at its last publication or when its template was last sold,
-- or that others have run.
UPDATE "rda" r SET "published_version" = CASE WHEN r.status = 'published' THEN r.version ELSE (
  SELECT v.version FROM "rda_version" v
  WHERE v.rda_id = r.id AND (
    v.created_at <= greatest(r.published_at, (SELECT max(s.sold_at) FROM "rda_source_sale" s WHERE s.rda_id = r.id))
    OR EXISTS (SELECT FROM "run" o WHERE o.rda_id = r.id AND o.rda_version = v.version AND o.user_id <> r.owner_id))
  ORDER BY string_to_array(v.version, '.')::int[] DESC LIMIT 1
) END
WHERE r.published_at IS NOT NULL;

-- By a trigger, so that what a process of the version before publishes is known too.
CREATE FUNCTION "rda_publish"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.published_version := NEW.version;
  RETURN NEW;
END $$;

CREATE TRIGGER "rda_publish" BEFORE INSERT OR UPDATE OF "status", "version" ON "rda" FOR EACH ROW WHEN (NEW."status" = 'published')
  EXECUTE FUNCTION "rda_publish"();

-- A reader's own list of the templates that they bought.
CREATE INDEX "rda_source_sale_user_id_sold_at_idx" ON "rda_source_sale" ("user_id", "sold_at" DESC);
