-- `sale_owner_real` has taken its place. By itself, because it waits for all who read sales, and nobody should wait behind it for long.
DROP INDEX "sale_owner";
