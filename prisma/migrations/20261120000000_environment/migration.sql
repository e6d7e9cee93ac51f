CREATE TYPE "environment" AS ENUM ('sandbox', 'production');
