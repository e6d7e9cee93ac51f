-- How accounts show themselves to their buyers.
CREATE TYPE "brand_theme" AS ENUM ('auto', 'light', 'dark');

CREATE TABLE "brand" (
    "user_id" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "name" TEXT,
    "logo" TEXT,
    "accent" TEXT,
    "theme" "brand_theme" NOT NULL DEFAULT 'auto',
    "support_email" TEXT,
    "support_url" TEXT,
    "imprint_url" TEXT,
    "terms_url" TEXT,
    "privacy_url" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "brand_pkey" PRIMARY KEY ("user_id","environment")
);
