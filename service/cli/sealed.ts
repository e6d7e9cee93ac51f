import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { DomainError } from '../kit/errors.ts'
import type { SealedColumn } from '../kit/tables.ts'
import { loadOrMakeKey, parseKeyring, type Keyring } from '../vault/keyring.ts'
import type { Secret } from '../vault/secret.ts'
import { vaultOf, type Vault } from '../vault/vault.ts'
import { SEALED_COLUMNS } from '../wiring/tables.ts'

/** The keys of this machine's configuration. Null where there is none yet. */
export async function keyringOf({ VAULT_KEY, VAULT_OLD_KEYS, DATA_DIR }: Config): Promise<Keyring | null> {
  const hasFile = existsSync(path.join(DATA_DIR, 'vault.key'))
  const key = VAULT_KEY ?? (hasFile ? await loadOrMakeKey(DATA_DIR) : null)
  return key === null ? null : parseKeyring(key, VAULT_OLD_KEYS)
}

/** Of each column one secret for each key that sealed some of it. */
export async function oneOfEach(run: Run): Promise<readonly (SealedSecret & { place: string })[]> {
  const found: (SealedSecret & { place: string })[] = []
  for (const column of SEALED_COLUMNS) {
    // The row of each key is chosen before its token is read: some tokens are megabytes.
    const text = `SELECT DISTINCT ON (${KEY_ID}) s.token, s.context ${secretsOf(column)}
      AND (${KEY_ID}, t.ctid) IN (SELECT ${KEY_ID}, min(t.ctid) ${secretsOf(column)} GROUP BY 1) ORDER BY ${KEY_ID}`
    const place = `${column.table}.${column.column}`
    found.push(...(await run<SealedSecret>(text, [])).map((one) => ({ ...one, place })))
  }
  return found
}

/** `npm run admin -- seal-again`: seals what an old key sealed with the newest one. It may be run again at any time. */
export async function sealAgain(config: Config, { statements }: Pick<Database, 'statements'>): Promise<string> {
  const keyring = await keyringOf(config)
  if (keyring === null) throw noKey()
  const run: Run = (text, values) => statements.run(text, values)
  const vault = vaultOf(keyring)
  const sealed: string[] = []
  const closed = new Set<string>()
  for (const column of SEALED_COLUMNS) {
    let count = 0
    // A row with several of them changes its place with each: it is met again in the next pass.
    for (let changed = -1; changed !== 0; count += changed) {
      changed = 0
      for await (const { row, token, context } of oldOf(column, keyring, run)) {
        const plain = opened(vault, token, context)
        if (plain === null) closed.add(context)
        else changed += (await run(replaceIn(column), [token, vault.seal(plain, context), row])).length
      }
    }
    if (count > 0) sealed.push(`  ${column.table}.${column.column}: ${String(count)}`)
  }
  const lost = [...closed].map((context) => `  ${context}`)
  return [
    sealed.length === 0 ? 'Nothing else was sealed with an old key.' : 'Sealed with the newest key:',
    ...sealed,
    ...(lost.length === 0 ? [] : ['No key opens these, so they stay as they are:', ...lost]),
    'Once the doctor warns of no old key, take it out of VAULT_OLD_KEYS.',
  ].join('\n')
}

/** What was sealed with another key than the newest, in the order of the rows on disk. Some tokens are megabytes. */
async function* oldOf(column: SealedColumn, { current }: Keyring, run: Run): AsyncGenerator<OldSecret> {
  const old = `${secretsOf(column)} AND ${KEY_ID} <> $1`
  const next = `SELECT DISTINCT t.ctid, t.ctid::text AS row ${old} AND t.ctid > $2::tid ORDER BY t.ctid LIMIT ${String(BATCH)}`
  const tokens = `SELECT t.ctid::text AS row, s.token, s.context ${old} AND t.ctid = ANY ($2::tid[]) ORDER BY t.ctid`
  for (let last: string | undefined = '(0,0)'; last !== undefined;) {
    const rows: readonly string[] = (await run<Pick<OldSecret, 'row'>>(next, [current.id, last])).map(({ row }) => row)
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      yield* await run<OldSecret>(tokens, [current.id, rows.slice(at, at + AT_ONCE)])
    }
    last = rows.at(-1)
  }
}

/** Null where no key opens it: its key was lost before. */
function opened(vault: Vault, token: string, context: string): Secret | null {
  try {
    return vault.open(token, context)
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

interface OldSecret extends SealedSecret {
  row: string
}

/** Asks the database. */
export type Run = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>

export interface SealedSecret {
  token: string
  context: string
}

function secretsOf({ table, secrets }: SealedColumn): string {
  return `FROM ${table} t CROSS JOIN LATERAL (${secrets}) AS s(token, context) WHERE s.token IS NOT NULL`
}

/**
 * Only where the row still has it: what was changed meanwhile was sealed with the newest key. A token has no character that
 * JSON would write in another way.
 */
function replaceIn({ table, column, type }: SealedColumn): string {
  return `UPDATE ${table} t SET ${column} = replace(t.${column}::text, $1, $2)::${type}
    WHERE t.ctid = $3::tid AND position($1 IN t.${column}::text) > 0 RETURNING 1 AS one`
}

function noKey(): DomainError {
  return new DomainError('invalid', 'vault_key_invalid', 'VAULT_KEY is not set, and this machine has no key file.')
}

/** Of the key that sealed it: `v1.<key id>.<nonce>.<text>`. */
const KEY_ID = `split_part(left(s.token, 40), '.', 2)`
const BATCH = 500
const AT_ONCE = 20
