-- A refusal answers the same act again until its time is over.
CREATE INDEX spending_approval_refused ON spending_approval (agent_id, request_hash, expires_at) WHERE state = 'refused';
