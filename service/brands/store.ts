import type { Owner } from '../kit/owner.ts'
import type { RowOf } from '../kit/rows.ts'
import type { Tables } from '../kit/tables.ts'
import type { StatementPool } from '../kit/transaction.ts'
import { NO_BRAND, type Brand } from './model.ts'
import type { BrandStore } from './ports.ts'

/** Brands in PostgreSQL. */
export function createBrandStore(statements: StatementPool): BrandStore {
  return {
    inTransaction: (work) => statements.together(work),

    async find({ userId, environment }) {
      const [row] = await statements.run<BrandRow>(FIND, [userId, environment], 'brand_find')
      return row === undefined ? NO_BRAND : fromBrandRow(row)
    },

    async lock(inside, { userId, environment }, now) {
      // The first change of an account makes its row, so that two changes at once do not lose one.
      await inside.run(BEGIN, [userId, environment, now], 'brand_begin')
      const [row] = await inside.run<BrandRow>(`${FIND} FOR UPDATE`, [userId, environment], 'brand_lock')
      return row === undefined ? NO_BRAND : fromBrandRow(row)
    },

    async save(inside, owner: Owner, brand, now) {
      const { name, logo, accent, theme, supportEmail, supportUrl, imprintUrl, termsUrl, privacyUrl } = brand
      const values = [name, logo, accent, theme, supportEmail, supportUrl, imprintUrl, termsUrl, privacyUrl, now]
      await inside.run(SAVE, [owner.userId, owner.environment, ...values], 'brand_save')
    },
  }
}

const FIND = 'SELECT * FROM brand WHERE user_id = $1 AND environment = $2::environment'

const BEGIN = `
INSERT INTO brand (user_id, environment, updated_at) VALUES ($1, $2::environment, $3)
ON CONFLICT (user_id, environment) DO NOTHING`

const SAVE = `
UPDATE brand SET name = $3, logo = $4, accent = $5, theme = $6::brand_theme, support_email = $7, support_url = $8,
  imprint_url = $9, terms_url = $10, privacy_url = $11, updated_at = $12
WHERE user_id = $1 AND environment = $2::environment`

type BrandRow = RowOf<Brand>

function fromBrandRow(row: BrandRow): Brand {
  return {
    name: row.name,
    logo: row.logo,
    accent: row.accent,
    theme: row.theme,
    supportEmail: row.support_email,
    supportUrl: row.support_url,
    imprintUrl: row.imprint_url,
    termsUrl: row.terms_url,
    privacyUrl: row.privacy_url,
  }
}

export const brandTables: Tables = {
  retention: () => ({ brand: { kept: 'one row for each account' } }),
}
