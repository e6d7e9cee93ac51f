-- A sale that an account of this server pays, in the ledger. A value of a type can be used only after the migration that adds it.
ALTER TYPE "sale_method" ADD VALUE 'account';
