-- From where a stranger asked for the settlement, as a hash: gas is counted by caller too. A version that does not know
-- the column claims without it, and its settlements count for no caller.
ALTER TABLE facilitator_settlement ADD COLUMN caller bytea;
