-- The oldest deliveries of a receiver that fetches them, without reading those that it has confirmed.
CREATE INDEX delivery_unconfirmed_of_target ON delivery (target_id, id) WHERE state = 'pending' AND target_id IS NOT NULL;
