export const FIND = 'SELECT * FROM connection WHERE id = $1 AND user_id = $2 AND environment = $3'

export const BY_ID = 'SELECT * FROM connection WHERE id = $1'

export const ADD = `
INSERT INTO connection (id, user_id, environment, provider, provider_owner_id, agent_id, name, kind, state, schemes, hosts,
  scopes, secret, expires_at, due_at, request, state_hash, request_expires_at, created_at, updated_at, is_default, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text, $14, $15, $16, $17, $18, $19, $19, $20,
  CASE WHEN $13::text IS NULL THEN 0 ELSE 1 END)
RETURNING *`

export const CLEAR_DEFAULT = `
UPDATE connection SET is_default = false
WHERE user_id = $1 AND environment = $2 AND provider = $3 AND provider_owner_id = $4 AND agent_id = $5 AND is_default
  AND state <> 'revoked'`

export const LIST = `
SELECT * FROM connection WHERE user_id = $1 AND environment = $2 AND state <> 'revoked'
ORDER BY id DESC LIMIT $3 OFFSET $4`

export const COUNT = `
SELECT count(*) AS total FROM connection WHERE user_id = $1 AND environment = $2 AND state <> 'revoked'`

export const OF_PROVIDER = `
SELECT * FROM connection
WHERE user_id = $1 AND environment = $2 AND provider = $3 AND provider_owner_id = $4 AND state <> 'revoked'`

export const OF_PROVIDERS = `
SELECT c.*, asked.place
FROM unnest($1::text[], $2::environment[], $3::text[], $4::text[])
  WITH ORDINALITY AS asked(user_id, environment, provider, owner, place)
JOIN connection c ON c.user_id = asked.user_id AND c.environment = asked.environment AND c.provider = asked.provider
  AND c.provider_owner_id = asked.owner AND c.state <> 'revoked'`

export const CHANGE = `
UPDATE connection SET name = coalesce($4, name), is_default = coalesce($5, is_default), updated_at = $6
WHERE id = $1 AND user_id = $2 AND environment = $3 AND state <> 'revoked' RETURNING *`

export const REQUEST = `
UPDATE connection SET state_hash = $4, request = $5, request_expires_at = $6, updated_at = $7, poll_at = $8,
  poll_interval_seconds = $9, failure = CASE WHEN state = 'pending' THEN NULL ELSE failure END
WHERE id = $1 AND user_id = $2 AND environment = $3 AND state <> 'revoked' RETURNING *`

export const REQUESTED = `
SELECT * FROM connection WHERE state_hash = $1 AND user_id = $2 AND environment = $3 AND request_expires_at > $4
  AND state <> 'revoked' AND poll_at IS NULL FOR UPDATE`

// A pending one is deleted at its time, should the process die before it is active.
export const TAKE_REQUEST = `
UPDATE connection SET request = NULL, state_hash = NULL, request_expires_at = greatest(request_expires_at, $2)
WHERE id = $1`

export const CLAIM_POLLS = `
UPDATE connection SET poll_at = $2 WHERE id IN (
  SELECT id FROM (
    SELECT id, poll_at, row_number() OVER (PARTITION BY environment, user_id ORDER BY poll_at, id) AS turn
    FROM connection WHERE poll_at <= $1
  ) turns WHERE turn <= $4::int ORDER BY turn, poll_at, id LIMIT $3::int)
AND poll_at <= $1 RETURNING *`

export const POLL_AGAIN = `
UPDATE connection SET poll_at = $3, poll_interval_seconds = $4 WHERE id = $1 AND request = $2 AND poll_at IS NOT NULL`

// As for a person who comes back: a pending one is deleted at its time, should the process die before it is active.
export const TAKE_POLL = `
UPDATE connection SET request = NULL, state_hash = NULL, poll_at = NULL, poll_interval_seconds = NULL,
  request_expires_at = greatest(request_expires_at, $3)
WHERE id = $1 AND request = $2 AND state <> 'revoked' RETURNING *`

export const END_POLL = `
UPDATE connection SET request = NULL, state_hash = NULL, poll_at = NULL, poll_interval_seconds = NULL,
  failure = CASE WHEN state IN ('pending', 'expired') THEN $3 ELSE failure END
WHERE id = $1 AND request IS NOT DISTINCT FROM $2`

// Removed meanwhile: what was issued is revoked.
export const ACTIVATE = `
UPDATE connection SET secret = $2, expires_at = $3, scopes = coalesce($5, scopes), hosts = coalesce($6, hosts),
  schemes = coalesce($7, schemes), kind = $9, version = version + 1,
  due_at = CASE WHEN state = 'revoked' THEN $8::timestamptz ELSE $4::timestamptz END,
  state = CASE WHEN state = 'revoked' THEN state ELSE 'active' END,
  attempts = 0, failing_since = NULL, failure = NULL, lease_id = NULL, lease_until = NULL, updated_at = $8::timestamptz
WHERE id = $1 AND (state <> 'revoked' OR secret IS NULL) RETURNING *`

// The grant that another one takes the place of, as if its connection had been removed: the sweeper revokes it.
export const REPLACED = `
INSERT INTO connection (id, user_id, environment, provider, provider_owner_id, agent_id, name, kind, state, schemes, hosts,
  scopes, secret, due_at, created_at, updated_at, is_default, version)
SELECT $2, user_id, environment, provider, provider_owner_id, agent_id, name, kind, 'revoked', schemes, hosts, scopes,
  $3, $4::timestamptz, created_at, $4::timestamptz, false, 1
FROM connection WHERE id = $1`

// After a failure nothing asks before the pause is over, however many calls want it.
export const CLAIM = `
UPDATE connection SET state = 'refreshing', lease_id = $3, lease_until = $4, attempts = attempts + 1
WHERE id = $1 AND version = $2 AND ((state = 'active' AND (attempts = 0 OR due_at <= $5))
  OR (state = 'refreshing' AND lease_until <= $5)) RETURNING *`

// Every account's first before any account's second.
export const DUE = `
SELECT * FROM connection WHERE id IN (
  SELECT id FROM (
    SELECT id, due, row_number() OVER (PARTITION BY environment, user_id ORDER BY due, id) AS turn FROM (
      SELECT id, environment, user_id, due_at AS due FROM connection WHERE due_at <= $1 AND state IN ('active', 'revoked')
      UNION ALL
      SELECT id, environment, user_id, lease_until AS due FROM connection WHERE state = 'refreshing' AND lease_until <= $1
    ) waiting
  ) turns WHERE turn <= $3::int ORDER BY turn, due, id LIMIT $2::int)
ORDER BY due_at, id`

// Removed meanwhile: the new secret is the one to revoke.
export const RENEWED = `
UPDATE connection SET secret = $3, expires_at = $4, scopes = coalesce($6, scopes), version = version + 1, attempts = 0,
  due_at = CASE WHEN state = 'revoked' THEN $7::timestamptz ELSE $5::timestamptz END,
  state = CASE WHEN state = 'revoked' THEN state ELSE 'active' END,
  failing_since = NULL, failure = NULL, lease_id = NULL, lease_until = NULL, updated_at = $7::timestamptz
WHERE id = $1 AND lease_id = $2 RETURNING *`

export const POSTPONE = `
UPDATE connection SET state = 'active', failure = $3, due_at = $4, failing_since = coalesce(failing_since, $5),
  lease_id = NULL, lease_until = NULL
WHERE id = $1 AND lease_id = $2 AND state = 'refreshing'`

const EXPIRED = `
UPDATE connection SET state = 'expired', secret = NULL, failure = $3, due_at = NULL, lease_id = NULL, lease_until = NULL,
  updated_at = $4`

export const EXPIRE_LEASED = `${EXPIRED} WHERE id = $1 AND lease_id = $2 AND state = 'refreshing' RETURNING *`
export const EXPIRE_VERSION = `${EXPIRED} WHERE id = $1 AND version = $2 AND state = 'active' RETURNING *`

export const HURRY = `
UPDATE connection SET due_at = CASE WHEN attempts = 0 THEN least(due_at, $4) ELSE due_at END, failure = $3
WHERE id = $1 AND version = $2 AND state = 'active'`

export const FAIL = `
UPDATE connection SET failure = $3 WHERE id = $1 AND version = $2 AND failure IS DISTINCT FROM $3`

// A pending one has nothing to revoke. One that is being renewed keeps its lease, and its new secret is revoked.
export const REMOVE = `
UPDATE connection SET state = 'revoked', is_default = false, request = NULL, state_hash = NULL,
  poll_at = NULL, poll_interval_seconds = NULL, request_expires_at = NULL, attempts = 0, failing_since = NULL, failure = NULL, updated_at = $4::timestamptz,
  due_at = CASE WHEN secret IS NULL THEN NULL ELSE greatest($4::timestamptz, lease_until) END
WHERE id = $1 AND user_id = $2 AND environment = $3 AND state <> 'revoked' RETURNING *`

export const REVOKED = `
UPDATE connection SET secret = CASE WHEN $3::timestamptz IS NULL THEN NULL ELSE secret END, due_at = $3,
  attempts = attempts + 1, lease_id = NULL, lease_until = NULL
WHERE id = $1 AND version = $2 AND state = 'revoked'`

export const USED = `
UPDATE connection SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)`

export const FORGET = "DELETE FROM connection WHERE id = $1 AND state = 'pending'"

export const FORGET_PENDING = `
DELETE FROM connection WHERE id IN (
  SELECT id FROM connection WHERE state = 'pending' AND request_expires_at <= $1
  ORDER BY request_expires_at, id LIMIT 500 FOR UPDATE SKIP LOCKED)`
