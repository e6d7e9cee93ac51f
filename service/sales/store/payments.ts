import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { isId, leastId } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import { byId, totalOf } from '../../kit/total.ts'
import type { RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import {
  PRODUCTS,
  SALE_STATES,
  type Customer,
  type CustomerPage,
  type NamedSale,
  type OwnSales,
  type Sale,
  type SaleFilter,
} from '../model.ts'
import { fromSaleRow, lockSale, type SaleRow } from './rows.ts'

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

    async olderOwn(owner, filter, page) {
      const { newest, values } = olderThan(owner, filter, page)
      return (await statements.run<NamedRow>(named(newest), values)).map(fromNamedRow)
    },

    async customers({ userId, environment }, { order, search, limit, before }) {
      const beginning = search === null ? null : `${search.replace(/[\\%_]/g, String.raw`\$&`)}%`
      // Without a name, so that the plan is for what is searched for.
      const rows = await statements.run<CustomerRow>(CUSTOMERS[order], [userId, environment, beginning, before, limit])
      return rows.map(fromCustomerRow)
    },

    async findCustomer({ userId, environment }, key) {
      const [row] = await statements.run<CustomerRow>(FIND_CUSTOMER, [userId, environment, key], 'sale_customer_find')
      return row === undefined ? null : fromCustomerRow(row)
    },

    async findOwn({ userId, environment }, id) {
      if (!isId('pay', id)) return null
      const [row] = await statements.run<NamedRow>(FIND, [id, userId, environment], 'sale_find_own')
      return row === undefined ? null : fromNamedRow(row)
    },

    lock: lockSale,

    async byTransaction(txHash, network) {
      const text = `SELECT * FROM sale WHERE tx_hash = $1 AND network = $2 LIMIT ${String(SALES_OF_TRANSACTION_MAX)}`
      return (await statements.run<SaleRow>(text, [txHash, network], 'sale_by_transaction')).map(fromSaleRow)
    },

    async hasAnswer(inside, id) {
      return (await inside.run('SELECT FROM sale_answer WHERE sale_id = $1', [id], 'sale_has_answer')).length > 0
    },

    async markRefunded(inside, id) {
      await inside.run(`UPDATE sale SET state = 'refunded' WHERE id = $1 AND state = 'paid'`, [id], 'sale_refunded')
    },
  }
}

interface PaidSales {
  /** Whether an answer waits for the buyer. */
  hasAnswer(inside: Statements, id: string): Promise<boolean>
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
SELECT s.*, paid_by_transfer(s.payer) AS by_transfer, transfer_senders(s.payer) AS sent_from, coalesce(v.shown #>> '{product,name}', c.product_name, p.name, s.details ->> 'slug') AS name
FROM (${sales}) s
LEFT JOIN checkout c ON s.product = 'checkout' AND c.id = s.subject
LEFT JOIN checkout_version v ON v.checkout_id = c.id AND v.version::text = s.details ->> 'version'
LEFT JOIN paywall p ON s.product = 'gate' AND p.id = s.subject
ORDER BY s.id DESC`
}

const FIND = named('SELECT * FROM sale WHERE id = $1 AND user_id = $2 AND environment = $3::environment')

/**
 * Reads as many rows as the page has, however many sales there are: for a product or a state those of each pair of both
 * are read from their own index, and of these few pages the newest rows are the page. A customer's sales have an index.
 */
function olderThan(
  owner: Owner,
  filter: SaleFilter,
  { limit, before }: { limit: number; before: string | null },
): { newest: string; values: unknown[] } {
  const { product, states, payer, email } = filter
  const isByKind = (product !== null || states !== null) && payer === null && email === null
  const { where, values } = conditionsOf(owner, isByKind ? { ...filter, product: null, states: null } : filter)
  const place = (value: unknown): string => `$${String(values.push(value))}`
  const older = before === null ? '' : `AND s.id < ${place(before)}`
  const end = `ORDER BY s.id DESC LIMIT ${place(limit)}`
  if (!isByKind) return { newest: `SELECT * FROM sale s WHERE ${where} ${older} ${end}`, values }
  const products = place(product === null ? PRODUCTS : [product])
  const kinds = place(states ?? SALE_STATES)
  const newest = `
SELECT s.* FROM unnest(enum_range(NULL::sale_product)) AS p (product)
CROSS JOIN unnest(enum_range(NULL::sale_state)) AS k (state)
CROSS JOIN LATERAL (
  SELECT * FROM sale s WHERE ${where} AND s.product = p.product AND s.state = k.state ${older} ${end}
) AS s WHERE p.product = ANY(${products}::sale_product[]) AND k.state = ANY(${kinds}::sale_state[]) ${end}`
  return { newest, values }
}

const OF_SELLER = 'user_id = $1 AND environment = $2::environment'
const CUSTOMER = `SELECT *, transfer_senders(payer) AS sent_from FROM sale_customer`
const FOUND = `${CUSTOMER} WHERE ${OF_SELLER} AND ($3::text IS NULL OR key LIKE $3)`
const BEFORE = `FROM sale_customer WHERE ${OF_SELLER} AND key = $4`
const FIND_CUSTOMER = `${CUSTOMER} WHERE ${OF_SELLER} AND key = $3`
/** Each order has an index. */
const CUSTOMERS: Readonly<Record<CustomerPage['order'], string>> = {
  last: `${FOUND} AND ($4::text IS NULL OR last_id < (SELECT last_id ${BEFORE})) ORDER BY last_id DESC LIMIT $5`,
  paid: `${FOUND} AND ($4::text IS NULL OR (paid, key) < (SELECT paid, key ${BEFORE})) ORDER BY paid DESC, key DESC LIMIT $5`,
  payments: `${FOUND} AND ($4::text IS NULL OR (payments, key) < (SELECT payments, key ${BEFORE}))
    ORDER BY payments DESC, key DESC LIMIT $5`,
}

type CustomerRow = RowOf<Omit<Customer, 'payments' | 'sentFrom'>> & { payments: bigint; sent_from: Address[] }

function fromCustomerRow(row: CustomerRow): Customer {
  return {
    key: row.key,
    email: row.email,
    payer: row.payer,
    byTransfer: row.by_transfer,
    sentFrom: row.sent_from,
    payments: Number(row.payments),
    paid: row.paid,
    refunded: row.refunded,
    firstAt: row.first_at,
    lastId: row.last_id,
    lastAt: row.last_at,
  }
}

function conditionsOf(owner: Owner, filter: SaleFilter): { where: string; values: unknown[] } {
  const { product, states, payer, email, from, to, refunded } = filter
  const parts = ['s.user_id = $1', 's.environment = $2::environment']
  const values: unknown[] = [owner.userId, owner.environment]
  const add = (condition: (place: string) => string, value: unknown): void => {
    values.push(value)
    parts.push(condition(`$${String(values.length)}`))
  }
  if (product !== null) add((place) => `s.product = ${place}::sale_product`, product)
  if (states !== null) add((place) => `s.state = ANY (${place}::sale_state[])`, states)
  if (payer !== null) add((place) => `s.payer = ${place}`, payer)
  if (email !== null) add((place) => `${EMAIL} = ${place}`, email)
  // An id begins with its time, and the index has it.
  if (from !== null) add((place) => `s.id >= ${place}`, leastId('pay', from))
  if (to !== null) add((place) => `s.id < ${place}`, leastId('pay', to))
  if (refunded !== null) parts.push(refunded ? 's.refunded > 0' : 's.refunded = 0')
  return { where: parts.join(' AND '), values }
}

/** As the index has it. */
const EMAIL = `lower(s.details #>> '{receipt,email}')`

type NamedRow = SaleRow & { name: string | null; by_transfer: boolean; sent_from: Address[] }

function fromNamedRow(row: NamedRow): NamedSale {
  return { sale: fromSaleRow(row), name: row.name, byTransfer: row.by_transfer, sentFrom: row.sent_from }
}
