import type { RowOf } from '../kit/rows.ts'
import type { Owner } from '../kit/owner.ts'
import { quotaExceeded } from '../kit/quota.ts'
import type { Tables } from '../kit/tables.ts'
import { byId, totalOf } from '../kit/total.ts'
import type { StatementPool, Statements } from '../kit/transaction.ts'
import type { FileLimits, StoredFile, Use } from './model.ts'
import { assertCustomerRoom, freeUploads, keepUploads } from './customer-store.ts'
import type { FileStore } from './ports.ts'

/** Files in PostgreSQL, in pieces. */
export function createFileStore(statements: StatementPool, limits: FileLimits): FileStore {
  async function one(text: string, values: readonly unknown[], name: string, on: Statements = statements) {
    const [row] = await on.run<FileRow>(text, values, name)
    return row === undefined ? null : fromFileRow(row)
  }

  return {
    inTransaction: (work) => statements.together(work),

    begin: (upload) =>
      statements.together(async (inside) => {
        const { id, owner, purpose, checkoutId, name, bytes, leaseUntil, createdAt } = upload
        if (checkoutId === null) await assertRoom(inside, owner, bytes, limits)
        else await assertCustomerRoom(inside, { owner, checkoutId, bytes, now: createdAt }, limits.customers)
        const values = [id, owner.userId, owner.environment, purpose, checkoutId, name, bytes, leaseUntil, createdAt]
        await inside.run(BEGIN, values, 'file_begin')
      }),

    async append(id, place, content) {
      await statements.run(APPEND, [id, place, content], 'file_append')
    },

    async finish(id, { mediaType, sha256, width, height, keptUntil }) {
      try {
        const values = [id, mediaType, Buffer.from(sha256, 'hex'), width, height, keptUntil]
        return await one(FINISH, values, 'file_finish')
      } catch (error) {
        // The same file was uploaded twice at once, and the other one was first.
        if ((error as { code?: string }).code === '23505') return null
        throw error
      }
    },

    same: ({ owner, purpose, name }, sha256) =>
      one(
        `SELECT * FROM file WHERE user_id = $1 AND environment = $2::environment AND purpose = $3::file_purpose
           AND sha256 = $4 AND name = $5 AND checkout_id IS NULL`,
        [owner.userId, owner.environment, purpose, Buffer.from(sha256, 'hex'), name],
        'file_same',
      ),

    async abandon(id) {
      await statements.run('DELETE FROM file WHERE id = $1 AND sha256 IS NULL', [id], 'file_abandon')
    },

    async sweep(now) {
      const gone = await statements.run<{ id: string }>(SWEEP, [now], 'file_sweep')
      return gone.length
    },

    keep: keepUploads,
    free: freeUploads,

    findOwn: ({ userId, environment }, id) => one(FIND_OWN, [userId, environment, id], 'file_find_own'),
    find: (id) => one('SELECT * FROM file WHERE id = $1 AND sha256 IS NOT NULL', [id], 'file_find'),

    async list({ userId, environment }, { limit, offset }) {
      const own = [userId, environment]
      const [rows, total, [sum]] = await Promise.all([
        statements.run<FileRow>(LIST, [...own, limit, offset], 'file_list'),
        totalOf(statements, { from: `${OWN} AND sha256 IS NOT NULL`, values: own, ...byId('file') }),
        statements.run<{ bytes: bigint }>(SUM, own, 'file_sum'),
      ])
      return { files: rows.map(fromFileRow), total, bytes: Number(sum?.bytes ?? 0n) }
    },

    async chunk(id, place) {
      const [row] = await statements.run<{ content: Buffer }>(CHUNK, [id, place], 'file_chunk')
      return row?.content ?? null
    },

    lockOwn: (inside, { userId, environment }, id) =>
      one(`${FIND_OWN} FOR UPDATE`, [userId, environment, id], 'file_lock_own', inside),

    usesOf: (inside, id) => inside.run<Use>(USES, [id], 'file_uses'),

    async delete(inside, { userId, environment }, id) {
      const text = 'DELETE FROM file WHERE user_id = $1 AND environment = $2::environment AND id = $3'
      await inside.run(text, [userId, environment, id], 'file_delete')
    },

    async use(inside, { userId, environment }, subject, files) {
      await inside.run(UNUSE, [subject, files], 'file_unuse')
      if (files.length === 0) return 0
      const used = await inside.run<{ file_id: string }>(USE, [userId, environment, subject, files], 'file_use')
      return used.length
    },

    async sold(inside, id, subject) {
      const [marked] = await inside.run<{ file_id: string }>(SOLD, [id, subject], 'file_sold')
      return marked !== undefined
    },
  }
}

/** Uploads that are under way count too, so that many at once do not exceed the quota. */
async function assertRoom(
  inside: Statements,
  { userId, environment }: Owner,
  bytes: number,
  { filesMax, accountBytesMax }: FileLimits,
): Promise<void> {
  const account = JSON.stringify(['files', userId, environment])
  await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 14))', [account], 'file_lock')
  const [stored] = await inside.run<{ bytes: bigint; files: bigint }>(SUM, [userId, environment], 'file_sum')
  if (Number(stored?.files ?? 0n) >= filesMax) throw quotaExceeded('files', filesMax, null)
  if (Number(stored?.bytes ?? 0n) + bytes > accountBytesMax) throw quotaExceeded('file_bytes', accountBytesMax, null)
}

/** Without what customers have uploaded. */
const OWN = 'file WHERE user_id = $1 AND environment = $2::environment AND checkout_id IS NULL'
const SUM = `SELECT coalesce(sum(bytes), 0)::bigint AS bytes, count(*) AS files FROM ${OWN}`
const LIST = `SELECT * FROM ${OWN} AND sha256 IS NOT NULL ORDER BY id DESC LIMIT $3 OFFSET $4`
const FIND_OWN = `SELECT * FROM ${OWN} AND id = $3 AND sha256 IS NOT NULL`
const CHUNK = 'SELECT content FROM file_chunk WHERE file_id = $1 AND place = $2'
const APPEND = 'INSERT INTO file_chunk (file_id, place, content) VALUES ($1, $2, $3)'

const BEGIN = `
INSERT INTO file (id, user_id, environment, purpose, checkout_id, name, media_type, bytes, lease_until, created_at)
VALUES ($1, $2, $3::environment, $4::file_purpose, $5, $6, '', $7, $8, $9)`

/** Only if it arrived whole, and there is no other file that is the same. */
const FINISH = `
UPDATE file f SET media_type = $2, sha256 = $3, width = $4, height = $5, lease_until = NULL, kept_until = $6
WHERE f.id = $1 AND f.sha256 IS NULL
  AND f.bytes = (SELECT coalesce(sum(length(c.content)), 0) FROM file_chunk c WHERE c.file_id = f.id)
  AND NOT EXISTS (
    SELECT FROM file o WHERE o.user_id = f.user_id AND o.environment = f.environment AND o.purpose = f.purpose
      AND o.sha256 = $3 AND o.name = f.name AND o.checkout_id IS NULL AND f.checkout_id IS NULL
  )
RETURNING *`

const SWEEP = `
WITH unfinished AS (SELECT id FROM file WHERE lease_until <= $1 ORDER BY lease_until LIMIT 20 FOR UPDATE SKIP LOCKED),
kept AS (SELECT id FROM file WHERE kept_until <= $1 ORDER BY kept_until LIMIT 200 FOR UPDATE SKIP LOCKED)
DELETE FROM file WHERE id IN (SELECT id FROM unfinished UNION ALL SELECT id FROM kept) RETURNING id`

const USES = 'SELECT subject, current, sold FROM file_use WHERE file_id = $1 ORDER BY subject'

/** What buyers have stays, as something that is not shown any more. */
const UNUSE = `
WITH gone AS (DELETE FROM file_use WHERE subject = $1 AND NOT sold AND file_id <> ALL ($2::text[]))
UPDATE file_use SET current = false WHERE subject = $1 AND sold AND file_id <> ALL ($2::text[])`

const USE = `
INSERT INTO file_use (file_id, subject, current)
SELECT id, $3, true FROM ${OWN} AND id = ANY ($4::text[]) AND sha256 IS NOT NULL
ON CONFLICT (file_id, subject) DO UPDATE SET current = true
RETURNING file_id`

const SOLD = `
INSERT INTO file_use (file_id, subject, current, sold)
SELECT id, $2, false, true FROM file WHERE id = $1 AND sha256 IS NOT NULL
ON CONFLICT (file_id, subject) DO UPDATE SET sold = true
RETURNING file_id`

type FileRow = RowOf<Omit<StoredFile, 'owner' | 'sha256'> & Owner> & { sha256: Buffer | null }

function fromFileRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    purpose: row.purpose,
    checkoutId: row.checkout_id,
    name: row.name,
    mediaType: row.media_type,
    bytes: row.bytes,
    sha256: row.sha256?.toString('hex') ?? '',
    width: row.width,
    height: row.height,
    keptUntil: row.kept_until,
    createdAt: row.created_at,
  }
}

export const fileTables: Tables = {
  retention: () => ({
    file: {
      kept: 'one row for each file of an account, until its owner deletes it; uploads that break off are removed, large answers after 26 hours, what customers upload after an hour or seven days after the sale',
    },
    file_chunk: { ends: 'with its file' },
    file_use: { ends: 'with its file, when its checkout uses another one, or when the order that names it has failed' },
  }),
}
