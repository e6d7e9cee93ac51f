import type { Owner } from '../kit/owner.ts'
import type { RowOf } from '../kit/rows.ts'
import type { Tables } from '../kit/tables.ts'
import type { StatementPool, Statements } from '../kit/transaction.ts'
import { NO_INVOICING, type Invoice, type Invoicing } from './model.ts'
import type { InvoiceStore } from './ports.ts'

/** Settings and invoices in PostgreSQL. */
export function createInvoiceStore(statements: StatementPool): InvoiceStore {
  return {
    together: (work) => statements.together(work),

    async settings({ userId, environment }, inside: Statements = statements) {
      const [row] = await inside.run<InvoicingRow>(SETTINGS, [userId, environment], 'invoicing_find')
      return row === undefined ? NO_INVOICING : fromSettingsRow(row)
    },

    async lockSettings(inside, { userId, environment }) {
      const account = JSON.stringify(['invoicing', userId, environment])
      await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 21))', [account], 'invoicing_lock')
    },

    async saveSettings(inside, { userId, environment }, invoicing, now) {
      const { enabled, sellerName, sellerAddress, sellerTaxId, taxLabel, taxRate, prefix, note } = invoicing
      const values = [enabled, sellerName, sellerAddress, sellerTaxId, taxLabel, taxRate, prefix, note, now]
      await inside.run(SAVE_SETTINGS, [userId, environment, ...values], 'invoicing_save')
    },

    async ofSale(saleId, inside: Statements = statements) {
      const [row] = await inside.run<InvoiceRow>(
        'SELECT * FROM invoice WHERE sale_id = $1',
        [saleId],
        'invoice_of_sale',
      )
      return row === undefined ? null : fromInvoiceRow(row)
    },

    async nextNumber(inside, { userId, environment }, year) {
      const [row] = await inside.run<{ last: number }>(NEXT, [userId, environment, year], 'invoice_next_number')
      if (row === undefined) throw new Error('the counter of invoices gave no number')
      return row.last
    },

    async add(inside, { saleId, owner, year, sequence, number, seller, buyer, lines, issuedAt }) {
      const texts = [seller, buyer, lines].map((part) => JSON.stringify(part))
      const values = [saleId, owner.userId, owner.environment, year, sequence, number, ...texts, issuedAt]
      await inside.run(ADD, values, 'invoice_add')
    },

    async list({ userId, environment }, { limit, offset }) {
      const [rows, [counted]] = await Promise.all([
        statements.run<InvoiceRow>(LIST, [userId, environment, limit, offset], 'invoice_list'),
        statements.run<{ total: bigint }>(COUNT, [userId, environment], 'invoice_count'),
      ])
      return { invoices: rows.map(fromInvoiceRow), total: Number(counted?.total ?? 0n) }
    },
  }
}

type InvoicingRow = RowOf<Invoicing & Owner & { updatedAt: Date }>
type InvoiceRow = RowOf<Omit<Invoice, 'owner'> & Owner>

function fromSettingsRow(row: InvoicingRow): Invoicing {
  return {
    enabled: row.enabled,
    sellerName: row.seller_name,
    sellerAddress: row.seller_address,
    sellerTaxId: row.seller_tax_id,
    taxLabel: row.tax_label,
    taxRate: row.tax_rate,
    prefix: row.prefix,
    note: row.note,
  }
}

function fromInvoiceRow(row: InvoiceRow): Invoice {
  const { sale_id: saleId, user_id: userId, environment, issued_at: issuedAt } = row
  const { number, year, sequence, seller, buyer, lines } = row
  return { saleId, owner: { userId, environment }, number, year, sequence, seller, buyer, lines, issuedAt }
}

const SETTINGS = 'SELECT * FROM invoicing WHERE user_id = $1 AND environment = $2::environment'

const SAVE_SETTINGS = `
INSERT INTO invoicing (user_id, environment, enabled, seller_name, seller_address, seller_tax_id, tax_label, tax_rate,
  prefix, note, updated_at)
VALUES ($1, $2::environment, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (user_id, environment) DO UPDATE SET enabled = excluded.enabled, seller_name = excluded.seller_name,
  seller_address = excluded.seller_address, seller_tax_id = excluded.seller_tax_id, tax_label = excluded.tax_label,
  tax_rate = excluded.tax_rate, prefix = excluded.prefix, note = excluded.note, updated_at = excluded.updated_at`

// The row stays locked until the transaction ends: one that fails takes its number back.
const NEXT = `
INSERT INTO invoice_counter (user_id, environment, year, last) VALUES ($1, $2::environment, $3, 1)
ON CONFLICT (user_id, environment, year) DO UPDATE SET last = invoice_counter.last + 1
RETURNING last`

const ADD = `
INSERT INTO invoice (sale_id, user_id, environment, year, sequence, number, seller, buyer, lines, issued_at)
VALUES ($1, $2, $3::environment, $4, $5, $6, $7::json, $8::json, $9::json, $10)`

const OWN = 'FROM invoice WHERE user_id = $1 AND environment = $2::environment'
const LIST = `SELECT * ${OWN} ORDER BY year DESC, sequence DESC LIMIT $3 OFFSET $4`
const COUNT = `SELECT count(*) AS total ${OWN}`

export const invoiceTables: Tables = {
  retention: () => ({
    invoicing: { kept: 'settings: one row for each account and environment' },
    invoice_counter: { kept: 'money: the last invoice number of each year, without gaps but one after a restore' },
    invoice: { kept: 'money: invoices as they were issued, which sellers have to keep' },
  }),
}
