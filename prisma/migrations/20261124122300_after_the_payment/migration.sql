-- What buyers get where no workflow is called, and the product's picture. Null: a workflow, and no picture.
ALTER TABLE "checkout" ADD COLUMN "after" JSON, ADD COLUMN "picture" JSON;
