-- A permit of the scheme `upto`: the facilitator that it names alone may take what was used.
ALTER TYPE "facilitator_operation" ADD VALUE 'upto';
