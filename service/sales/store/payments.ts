import type { NetworkName } from '../../chain/networks.ts'
import { isId, leastId } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import { byId, totalOf } from '../../kit/total.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { NamedSale, OwnSales, Sale, SaleFilter } from '../model.ts'
import { fromSaleRow, type SaleRow } from './rows.ts'

/** The sales of all products of one owner, in one list. */
export function createOwnSales(statements: Statements): OwnSales & PaidSales {
  async function count(owner: Owner, filter: SaleFilter): Promise<number> {
    const { states, refunded } = filter
    const { where, values } = conditionsOf(owner, filter)
    // A sale keeps what it is listed by, except for its state and what went back of it.
    if (states === null && refunded === null) {
      return await totalOf(statements, { from: `sale s WHERE ${where}`, values, ...byId('pay', { key: 's.id' }) })
    }
    const [row] = await statements.run<{ total: bigint }>(`SELECT count(*) AS total FROM sale s WHERE ${where}`, values)
    return Number(row?.total ?? 0n)
  }

  return {
    async listOwn(owner, filter, { limit, offset }) {
      const { where, values } = conditionsOf(owner, filter)
      const at = `LIMIT $${String(values.length + 1)} OFFSET $${String(values.length + 2)}`
      const newest = `SELECT * FROM sale s WHERE ${where} ORDER BY s.id DESC ${at}`
      const [rows, total] = await Promise.all([
        statements.run<NamedRow>(named(newest), [...values, limit, offset]),
        count(owner, filter),
      ])
      return { sales: rows.map(fromNamedRow), total }
    },

    async findOwn({ userId, environment }, id) {
      if (!isId('pay', id)) return null
      const [row] = await statements.run<NamedRow>(FIND, [id, userId, environment], 'sale_find_own')
      return row === undefined ? null : fromNamedRow(row)
    },

    async lock(inside, id) {
      if (!isId('pay', id) && !isId('call', id)) return null
      const [row] = await inside.run<SaleRow>('SELECT * FROM sale WHERE id = $1 FOR UPDATE', [id], 'sale_lock')
      return row === undefined ? null : fromSaleRow(row)
    },

    async byTransaction(txHash, network) {
      const text = `SELECT * FROM sale WHERE tx_hash = $1 AND network = $2 LIMIT ${String(SALES_OF_TRANSACTION_MAX)}`
      return (await statements.run<SaleRow>(text, [txHash, network], 'sale_by_transaction')).map(fromSaleRow)
    },

    async markRefunded(inside, id) {
      await inside.run(`UPDATE sale SET state = 'refunded' WHERE id = $1 AND state = 'paid'`, [id], 'sale_refunded')
    },
  }
}

interface PaidSales {
  /** All of it went back. */
  markRefunded(inside: Statements, id: string): Promise<void>
  /** The sales that this transaction paid: the facilitator settles many at once. */
  byTransaction(txHash: string, network: NetworkName): Promise<readonly Sale[]>
}

/** More than the facilitator puts into one transaction. */
const SALES_OF_TRANSACTION_MAX = 1_000

/** Names only the rows of the page, as they were named when they were bought. An asset names itself in its details. */
function named(sales: string): string {
  return `
SELECT s.*, coalesce(v.shown #>> '{product,name}', c.product_name, p.name, s.details ->> 'slug') AS name
FROM (${sales}) s
LEFT JOIN checkout c ON s.product = 'checkout' AND c.id = s.subject
LEFT JOIN checkout_version v ON v.checkout_id = c.id AND v.version::text = s.details ->> 'version'
LEFT JOIN paywall p ON s.product = 'gate' AND p.id = s.subject
ORDER BY s.id DESC`
}

const FIND = named('SELECT * FROM sale WHERE id = $1 AND user_id = $2 AND environment = $3::environment')

function conditionsOf(owner: Owner, filter: SaleFilter): { where: string; values: unknown[] } {
  const { product, states, payer, from, to, refunded } = filter
  const parts = ['s.user_id = $1', 's.environment = $2::environment']
  const values: unknown[] = [owner.userId, owner.environment]
  const add = (condition: (place: string) => string, value: unknown): void => {
    values.push(value)
    parts.push(condition(`$${String(values.length)}`))
  }
  if (product !== null) add((place) => `s.product = ${place}::sale_product`, product)
  if (states !== null) add((place) => `s.state = ANY (${place}::sale_state[])`, states)
  if (payer !== null) add((place) => `s.payer = ${place}`, payer)
  // An id begins with its time, and the index has it.
  if (from !== null) add((place) => `s.id >= ${place}`, leastId('pay', from))
  if (to !== null) add((place) => `s.id < ${place}`, leastId('pay', to))
  if (refunded !== null) parts.push(refunded ? 's.refunded > 0' : 's.refunded = 0')
  return { where: parts.join(' AND '), values }
}

type NamedRow = SaleRow & { name: string | null }

function fromNamedRow(row: NamedRow): NamedSale {
  return { sale: fromSaleRow(row), name: row.name }
}
