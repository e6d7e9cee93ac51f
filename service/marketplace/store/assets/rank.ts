/**
 * Everybody's place in the lists. Only people who paid count, each once, and an owner never for their own: runs alone
 * would let anyone with a minute and a loop put themselves on top. Only rows that change are written. OFFSET 0 and the
 * array keep every asset a probe of the primary key: after a busy day the planner expects thousands and would read the
 * whole table for a handful, at a million rows for two seconds of each minute.
 */
export const RANK = `
WITH recent AS (
  SELECT rda_id, count(DISTINCT user_id) AS callers FROM run
  WHERE ended_at >= $1 AND status = 'succeeded' AND cost > 0 AND user_id <> owner_id
  GROUP BY rda_id
),
concerned AS (SELECT rda_id AS id FROM recent UNION SELECT id FROM rda WHERE callers > 0 OR trending),
standing AS (
  SELECT r.id, coalesce(recent.callers, 0)::integer AS callers, r.environment, r.status, r.callers AS had, r.trending AS was
  FROM concerned
  CROSS JOIN LATERAL (SELECT id, environment, status, callers, trending FROM rda WHERE rda.id = concerned.id OFFSET 0) r
  LEFT JOIN recent ON recent.rda_id = r.id
),
best AS (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY environment ORDER BY callers DESC, id DESC) AS place
    FROM standing WHERE status = 'published' AND callers >= $2
  ) placed WHERE place <= $3
),
changed AS MATERIALIZED (
  SELECT s.id, s.callers, best.id IS NOT NULL AS trending FROM standing s LEFT JOIN best USING (id)
  WHERE (s.had, s.was) IS DISTINCT FROM (s.callers, best.id IS NOT NULL)
)
UPDATE rda r SET callers = c.callers, trending = c.trending
FROM changed c
WHERE r.id = c.id AND r.id = ANY (ARRAY(SELECT id FROM changed))
  AND (r.callers, r.trending) IS DISTINCT FROM (c.callers, c.trending)`

/**
 * What others' runs at today's price cost lately, for the estimate. Rows that others are writing are left for the next turn: it
 * never waits.
 */
export const RECENT_COSTS = `
WITH ran AS (
  SELECT rda_id, rda_version, min(cost) AS least, max(cost) AS most FROM run
  WHERE ended_at >= $1 AND status = 'succeeded' AND user_id <> owner_id GROUP BY rda_id, rda_version
),
recent AS (
  SELECT r.id, min(least) AS least, max(most) AS most FROM ran JOIN rda r ON r.id = ran.rda_id
  JOIN rda_version today ON today.rda_id = r.id AND today.version = r.version
  JOIN rda_version v ON v.rda_id = r.id AND v.version = ran.rda_version
  WHERE v.version = today.version OR v.content -> 'pricing' = today.content -> 'pricing' GROUP BY r.id
),
free AS (
  SELECT s.rda_id, least, most FROM rda_stats s JOIN recent n ON n.id = s.rda_id
  WHERE (s.cost_least, s.cost_most) IS DISTINCT FROM (least, most)
  FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE rda_stats s SET cost_least = free.least, cost_most = free.most FROM free WHERE s.rda_id = free.rda_id`
