import type pg from 'pg'
import { HOLDS, MOVEMENTS } from './history.ts'
import type { Row } from './names.ts'

/**
 * Writes the rows that a version has a table for, each with the columns that the version has, and the ledger's history.
 * Answers how many rows each table has then.
 */
export async function fillVersion(
  client: pg.Client,
  rows: readonly (readonly [table: string, row: Row])[],
): Promise<Map<string, number>> {
  const columns = await columnsOf(client)
  for (const [table, row] of inOrder(rows)) {
    const has = columns.get(table)
    if (has === undefined) continue
    await insert(client, table, Object.fromEntries(Object.entries(row).filter(([name]) => has.has(name))))
  }
  await fillLedger(client)
  const counts = new Map<string, number>()
  for (const table of columns.keys()) {
    const found = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
    counts.set(table, found.rows[0]!.count)
  }
  return counts
}

/** A row that another refers to comes first. */
const FIRST = [
  'identity_user',
  'rda_creator',
  'rda',
  'checkout',
  'checkout_payment',
  'sale',
  'paywall',
  'paywall_balance',
]

function inOrder(rows: readonly (readonly [string, Row])[]): (readonly [string, Row])[] {
  const place = (table: string): number => (FIRST.includes(table) ? FIRST.indexOf(table) : FIRST.length)
  return [...rows].sort(([a], [b]) => place(a) - place(b))
}

async function columnsOf(client: pg.Client): Promise<Map<string, Set<string>>> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT table_name AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' GROUP BY table_name`,
  )
  return new Map(rows.map(({ table, columns }) => [table, new Set(columns)]))
}

/** Accounts are born empty, and only postings change them, so this writes what the ledger itself wrote. */
async function fillLedger(client: pg.Client): Promise<void> {
  const accounts = new Map<string, string>()
  const owners = MOVEMENTS.flatMap(({ legs }) => legs.map(({ owner }) => owner))
  for (const owner of new Set(owners.filter((each) => each !== 'platform'))) {
    for (const kind of ['wallet', 'credits'])
      await insert(client, 'ledger_account', { environment: 'sandbox', owner, kind })
  }
  const { rows } = await client.query<{ id: string; name: string }>(
    `SELECT id, owner || ' ' || kind AS name FROM ledger_account WHERE environment = 'sandbox' AND stripe = 0`,
  )
  for (const { id, name } of rows) accounts.set(name, id)
  for (const hold of HOLDS) {
    const owner = MOVEMENTS.find(({ id }) => id === `${String(hold['id'])}.reserve`)!.legs[0]!.owner
    await insert(client, 'ledger_hold', { ...hold, wallet_id: accounts.get(`${owner} wallet`) })
  }
  for (const { id, kind, legs } of MOVEMENTS) {
    await insert(client, 'ledger_movement', { id, kind, input_hash: Buffer.alloc(32), at: new Date() })
    const values = legs.map(({ owner, kind: of, side, available, locked }) => {
      const account = accounts.get(`${owner} ${of}`)
      return `('${id}', ${account!}, '${side}', '${kind}', ${String(available)}, ${String(locked ?? 0)})`
    })
    await client.query(
      `INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked) VALUES ${values.join(', ')}`,
    )
  }
}

async function insert(client: pg.Client, table: string, row: Row): Promise<void> {
  const names = Object.keys(row)
  const places = names.map((_, place) => `$${String(place + 1)}`)
  const text = `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${places.join(', ')})`
  await client.query(text, Object.values(row)).catch((error: unknown) => {
    throw new Error(`${table}: ${error instanceof Error ? error.message : String(error)}`)
  })
}
