import type { StatementPool } from '../../kit/transaction.ts'
import type { CheckoutStore, NoticeDigest } from '../stores.ts'

/** What accounts are mailed of their sales. */
export function notices(
  statements: StatementPool,
): Pick<CheckoutStore, 'addNotice' | 'setFailureAside' | 'takeNotices'> {
  return {
    async addNotice({ saleId, kind, owner: { userId, environment }, at, announcement }, { since, alone }) {
      return await statements.together(async (inside) => {
        // One after the other, or more than so many would have a mail of their own.
        await inside.run(LOCK, [`notices ${userId} ${environment} ${kind}`])
        const values = [saleId, kind, userId, environment, at, since, alone, announcement]
        const [row] = await inside.run<{ alone: boolean }>(ADD, values, 'notice_add')
        return row?.alone === true
      })
    },

    async setFailureAside(inside, saleId) {
      await inside.run(SET_ASIDE, [saleId], 'notice_set_aside')
    },

    async takeNotices(inside, before, limit) {
      const rows = await inside.run<Omit<NoticeDigest, 'count' | 'userId'> & { user_id: string; count: bigint }>(
        TAKE,
        [before, limit],
        'notice_take',
      )
      return rows.map(({ user_id: userId, environment, kind, count }) => ({
        userId,
        environment,
        kind,
        count: Number(count),
      }))
    },
  }
}

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'

// A repeated notice keeps what it was.
const ADD = `
INSERT INTO sale_notice (sale_id, kind, user_id, environment, at, alone, waits, announcement)
SELECT $1, $2, $3, $4::environment, $5, before.few, NOT before.few, $8
FROM (
  SELECT count(*) < $7::int AS few FROM sale_notice
  WHERE user_id = $3 AND environment = $4::environment AND kind = $2 AND alone AND at > $6
) AS before
ON CONFLICT (sale_id, kind) DO UPDATE SET at = sale_notice.at
RETURNING alone AND announcement = $8 AS alone`

// It stays among those that bound the mails of an hour.
const SET_ASIDE = `
UPDATE sale_notice SET sale_id = sale_id || ' ' || announcement WHERE sale_id = $1 AND kind = 'failure'`

const TAKE = `
WITH due AS (
  SELECT DISTINCT user_id, environment, kind FROM (
    SELECT user_id, environment, kind FROM sale_notice WHERE waits AND at <= $1 ORDER BY at LIMIT $2
  ) AS oldest
), taken AS (
  UPDATE sale_notice SET waits = false FROM due
  WHERE sale_notice.user_id = due.user_id AND sale_notice.environment = due.environment
    AND sale_notice.kind = due.kind AND sale_notice.waits
  RETURNING sale_notice.user_id, sale_notice.environment, sale_notice.kind
)
SELECT user_id, environment, kind, count(*) AS count FROM taken GROUP BY user_id, environment, kind`
