-- What an error of the receiver means. Null: by what kind of receiver the checkout has.
ALTER TABLE "checkout" ADD COLUMN "fails_on_error" BOOLEAN;
