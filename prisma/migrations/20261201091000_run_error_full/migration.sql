-- The error with the addresses of the creator's server: for the creator alone. Null where it is the same.
ALTER TABLE "run" ADD COLUMN "error_full" TEXT;
