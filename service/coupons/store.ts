import type { Id } from '../kit/ids.ts'
import { usdc } from '../kit/money.ts'
import type { Environment } from '../kit/owner.ts'
import { holdQuota } from '../kit/quota.ts'
import { newestMarks, type Tables } from '../kit/tables.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { Coupon, CouponLimits } from './model.ts'
import type { CouponStore } from './ports.ts'

/** Coupons and their uses in PostgreSQL. */
export function createCouponStore(statements: StatementPool): CouponStore {
  return {
    async add(coupon) {
      const { id, owner } = coupon
      return await statements.together(async (inside) => {
        const own = [id, owner.userId, owner.environment]
        const [known] = await inside.run<CouponRow>(FIND_OWN, own, 'coupon_find_own')
        if (known !== undefined) return fromRow(known)
        await holdQuota(inside, {
          quota: 'coupons',
          owner,
          limit: COUPONS_MAX,
          values: [owner.userId, owner.environment],
          rows: 'coupon WHERE user_id = $1 AND environment = $2 AND archived_at IS NULL',
        })
        const { code, percent, amount, createdAt } = coupon
        const values = [...own, code, percent, amount, ...limitsOf(coupon), createdAt]
        return only(await inside.run<CouponRow>(ADD, values, 'coupon_add'))
      })
    },

    async findOwn({ userId, environment }, id) {
      return only(await statements.run<CouponRow>(FIND_OWN, [id, userId, environment], 'coupon_find_own'))
    },

    async findByCode({ userId, environment }, code) {
      return only(await statements.run<CouponRow>(FIND_BY_CODE, [userId, environment, code], 'coupon_find_by_code'))
    },

    async list({ userId, environment }, archived, { limit, offset }) {
      const own = [userId, environment, archived]
      const [rows, [counted]] = await Promise.all([
        statements.run<CouponRow>(LIST, [...own, limit, offset], 'coupon_list'),
        statements.run<{ total: bigint }>(COUNT, own, 'coupon_count'),
      ])
      return { coupons: rows.map(fromRow), total: Number(counted?.total ?? 0n) }
    },

    async change({ userId, environment }, id, change, now) {
      return await statements.together(async (inside) => {
        const own = [id, userId, environment]
        const before = only(await inside.run<CouponRow>(`${FIND_OWN} FOR UPDATE`, own, 'coupon_lock_own'))
        if (before === null) return null
        const values = [...own, ...limitsOf({ ...before, ...change }), now]
        return only(await inside.run<CouponRow>(CHANGE, values, 'coupon_change'))
      })
    },

    async archive({ userId, environment }, id, now) {
      return only(await statements.run<CouponRow>(ARCHIVE, [id, userId, environment, now], 'coupon_archive'))
    },

    async addUse(inside, { couponId, saleId, payer, test, at }) {
      const values = [saleId, couponId, payer.toLowerCase(), test, at]
      return (await inside.run<{ sale_id: string }>(ADD_USE, values, 'coupon_add_use')).length > 0
    },

    async countUse(inside, { couponId, test, at }) {
      const [text, name] = test
        ? ([COUNT_TEST, 'coupon_count_test'] as const)
        : ([COUNT_USE, 'coupon_count_use'] as const)
      return only(await inside.run<CouponRow>(text, [couponId, at], name))
    },

    async find(inside, id) {
      return only(await inside.run<CouponRow>('SELECT * FROM coupon WHERE id = $1', [id], 'coupon_find'))
    },

    async usesOf(inside, couponId, payer) {
      const values = [couponId, payer.toLowerCase()]
      const [row] = await inside.run<{ uses: bigint }>(USES_OF, values, 'coupon_uses_of')
      return Number(row?.uses ?? 0n)
    },

    async dropUse(inside, saleId) {
      await inside.run(DROP_USE, [saleId], 'coupon_drop_use')
    },
  }
}

/** Of an account, in each environment, without archived ones. */
const COUPONS_MAX = 1_000

interface CouponRow {
  id: Id<'cpn'>
  user_id: string
  environment: Environment
  code: string
  percent: number | null
  amount: bigint | null
  max: number | null
  per_customer: number | null
  until: Date | null
  checkouts: string[] | null
  used: number
  tested: number
  archived_at: Date | null
  created_at: Date
  updated_at: Date
}

function only([row]: readonly CouponRow[]): Coupon | null {
  return row === undefined ? null : fromRow(row)
}

function fromRow(row: CouponRow): Coupon {
  const { id, code, percent, amount, max, until, checkouts, used, tested } = row
  return {
    id,
    code,
    percent,
    max,
    until,
    checkouts,
    used,
    tested,
    owner: { userId: row.user_id, environment: row.environment },
    amount: amount === null ? null : usdc(amount),
    perCustomer: row.per_customer,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function limitsOf({ max, perCustomer, until, checkouts }: CouponLimits): unknown[] {
  return [max, perCustomer, until, checkouts]
}

const FIND_OWN = 'SELECT * FROM coupon WHERE id = $1 AND user_id = $2 AND environment = $3'

const FIND_BY_CODE = `
SELECT * FROM coupon WHERE user_id = $1 AND environment = $2 AND code = $3 AND archived_at IS NULL`

const LIST = `
SELECT * FROM coupon WHERE user_id = $1 AND environment = $2 AND (archived_at IS NOT NULL) = $3
ORDER BY id DESC LIMIT $4 OFFSET $5`

const COUNT = `
SELECT count(*) AS total FROM coupon WHERE user_id = $1 AND environment = $2 AND (archived_at IS NOT NULL) = $3`

const ADD = `
INSERT INTO coupon (id, user_id, environment, code, percent, amount, max, per_customer, until, checkouts, created_at,
  updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
ON CONFLICT DO NOTHING RETURNING *`

// Simulated purchases beyond a lower limit are forgotten: they are worth nothing.
const CHANGE = `
UPDATE coupon SET max = $4::int, per_customer = $5, until = $6, checkouts = $7, updated_at = $8,
  tested = least(tested, coalesce($4::int, tested))
WHERE id = $1 AND user_id = $2 AND environment = $3 AND archived_at IS NULL AND ($4::int IS NULL OR used <= $4::int)
RETURNING *`

const ARCHIVE = `
UPDATE coupon SET archived_at = coalesce(archived_at, $4),
  updated_at = CASE WHEN archived_at IS NULL THEN $4 ELSE updated_at END
WHERE id = $1 AND user_id = $2 AND environment = $3
RETURNING *`

const ADD_USE = `
INSERT INTO coupon_use (sale_id, coupon_id, payer, simulated, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING sale_id`

const OPEN = 'id = $1 AND archived_at IS NULL AND (until IS NULL OR until > $2)'

// The update looks at the limit itself, so that purchases at once cannot pass it.
const COUNT_USE = `UPDATE coupon SET used = used + 1 WHERE ${OPEN} AND (max IS NULL OR used < max) RETURNING *`
const COUNT_TEST = `UPDATE coupon SET tested = tested + 1 WHERE ${OPEN} AND (max IS NULL OR tested < max) RETURNING *`

const USES_OF = 'SELECT count(*) AS uses FROM coupon_use WHERE coupon_id = $1 AND payer = $2 AND NOT simulated'

const DROP_USE = `
WITH dropped AS (DELETE FROM coupon_use WHERE sale_id = $1 RETURNING coupon_id, simulated)
UPDATE coupon c SET used = c.used - CASE WHEN d.simulated THEN 0 ELSE 1 END,
  tested = greatest(0, c.tested - CASE WHEN d.simulated THEN 1 ELSE 0 END)
FROM dropped d WHERE c.id = d.coupon_id`

export const couponTables: Tables = {
  retention: () => ({
    coupon: { kept: 'its purchases name it' },
    coupon_use: { kept: 'one for each purchase with a code, as long as the payment: it is what the limits count' },
  }),
  changes: { checkouts: [newestMarks('coupon', 'used, updated_at', 100)] },
}
