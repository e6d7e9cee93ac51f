/**
 * Everybody's place in the lists. Only people who paid count, each once, and an owner never for their own: runs alone
 * would let whoever has a minute and a loop put themselves on top. Only rows that change are written.
 */
export const RANK = `
WITH recent AS (
  SELECT rda_id, count(DISTINCT user_id) AS callers FROM run
  WHERE ended_at >= $1 AND status = 'succeeded' AND cost > 0 AND user_id <> owner_id
  GROUP BY rda_id
),
concerned AS (SELECT rda_id AS id FROM recent UNION SELECT id FROM rda WHERE callers > 0 OR trending),
standing AS (
  SELECT id, coalesce(recent.callers, 0)::integer AS callers, r.environment, r.status
  FROM concerned JOIN rda r USING (id) LEFT JOIN recent ON recent.rda_id = id
),
best AS (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY environment ORDER BY callers DESC, id DESC) AS place
    FROM standing WHERE status = 'published' AND callers >= $2
  ) placed WHERE place <= $3
)
UPDATE rda r SET callers = s.callers, trending = best.id IS NOT NULL
FROM standing s LEFT JOIN best USING (id)
WHERE r.id = s.id AND (r.callers, r.trending) IS DISTINCT FROM (s.callers, best.id IS NOT NULL)`

/** What runs cost lately, for the estimate. Rows that others are writing are left for the next turn: it never waits. */
export const RECENT_COSTS = `
WITH recent AS (
  SELECT rda_id, min(cost) AS least, max(cost) AS most FROM run
  WHERE ended_at >= $1 AND status = 'succeeded' GROUP BY rda_id
),
free AS (
  SELECT s.rda_id, least, most FROM rda_stats s JOIN recent n ON n.rda_id = s.rda_id
  WHERE (s.cost_least, s.cost_most) IS DISTINCT FROM (least, most)
  FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE rda_stats s SET cost_least = free.least, cost_most = free.most FROM free WHERE s.rda_id = free.rda_id`
