-- A sale of which only what was used is taken.
ALTER TYPE "sale_method" ADD VALUE 'upto';
