import { opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import type pg from 'pg'
import type { Config } from '../../config.ts'
import { hasCode } from '../../kit/secret-file.ts'
import { recount } from '../../ledger/store/recount.ts'
import { verifySmtp } from '../../mail/mailer.ts'
import { fault, fine, reasonOf, warning, type CheckContext, type Finding } from './model.ts'

/** Adds the ledger up in one snapshot, in steps of bounded size and for a bounded time. */
export async function checkLedger(pool: pg.Pool, now: () => number): Promise<Finding[]> {
  const { rows: tables } = await pool.query<{ there: boolean }>(
    `SELECT to_regclass('ledger_posting') IS NOT NULL AS there`,
  )
  if (tables[0]?.there !== true) return []
  const client = await pool.connect()
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const statements = {
      run: async <Row>(text: string, values: readonly unknown[]) =>
        (await client.query(text, [...values])).rows as Row[],
    }
    const until = now() + RECOUNT_MS
    const counted = await recount(statements, { hasTime: () => now() < until })
    const [first] = counted.differences
    if (first !== undefined) {
      const { subject, figure, recorded, recomputed } = first
      const says = `${String(counted.differences.length)} differences, such as ${subject}: ${figure} is recorded as ${recorded}, recomputed as ${recomputed}. Stop payouts (npm run admin -- payouts off) and look at all: npm run ledger -- check`
      return [fault('ledger', says)]
    }
    const read = `${String(counted.postings)} postings of ${String(counted.movements)} movements`
    return [
      fine(
        'ledger',
        counted.complete
          ? `${read} add up to zero, and ${String(counted.accounts)} balances are what their postings give (${String(counted.steps)} steps).`
          : `The first ${read} add up to zero (${String(counted.steps)} steps). The time was too short for all: npm run ledger -- check`,
      ),
    ]
  } finally {
    await client.query('ROLLBACK').finally(() => client.release())
  }
}

/**
 * Whether anything shows that there are backups: dumps in BACKUP_DIR, or a server that archives its log. What a provider
 * does out of sight cannot be seen from here.
 */
export async function checkBackups(pool: pg.Pool, config: Config, now: () => number): Promise<Finding[]> {
  if (config.BACKUP_DIR !== undefined) return [await newestDump(config.BACKUP_DIR, now)]
  if (!config.LIVE) return []
  const { rows } = await pool.query<{ mode: string; archived: Date | null; failed: Date | null }>(
    `SELECT current_setting('archive_mode') AS mode, last_archived_time AS archived, last_failed_time AS failed FROM pg_stat_archiver`,
  )
  const { mode = 'off', archived = null, failed = null } = rows[0] ?? {}
  if (mode === 'off')
    return [
      warning(
        'backups',
        'Nothing here shows that there are backups. Make them (docs/going-live.md, step 8), and set BACKUP_DIR to their folder to have their age looked at.',
      ),
    ]
  if (failed !== null && (archived === null || failed > archived))
    return [
      fault('backups', `The server has failed to archive its log since ${failed.toISOString()}: look at its log.`),
    ]
  const last = archived === null ? 'none yet' : `the last part at ${archived.toISOString()}`
  return [fine('backups', `The server archives its log: ${last}.`)]
}

async function newestDump(folder: string, now: () => number): Promise<Finding> {
  try {
    const newest = await newestTime(folder)
    if (newest === null)
      return fault('backups', `There is no file in ${folder}: make a dump (docs/going-live.md, step 8).`)
    const hours = Math.max(0, now() - newest) / 3_600_000
    const says = `The newest file in ${folder} is ${hours.toFixed(1)} hours old.`
    return hours > BACKUP_HOURS_MAX
      ? fault('backups', `${says} What happened since then would be lost with the database: make a dump each day.`)
      : fine('backups', says)
  } catch (error) {
    return fault('backups', `BACKUP_DIR cannot be read: ${reasonOf(error)}`)
  }
}

/** Null where no file has anything in it. */
async function newestTime(folder: string): Promise<number | null> {
  let newest: number | null = null
  for await (const { name } of await opendir(folder)) {
    // A file may be removed meanwhile.
    const file = await stat(path.join(folder, name)).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null
      throw error
    })
    if (file?.isFile() === true && file.size > 0 && (newest === null || file.mtimeMs > newest)) newest = file.mtimeMs
  }
  return newest
}

/** Whether the mail server takes us: a wrong password is found here, and not by the first person who signs up. */
export async function checkMail({ config: { LIVE, SMTP_URL, MAIL_FROM } }: CheckContext): Promise<readonly Finding[]> {
  if (SMTP_URL === undefined) {
    const says = 'SMTP_URL is not set: no mail is sent, not even to confirm an address.'
    return LIVE ? [warning('mail', says)] : []
  }
  const { host } = new URL(SMTP_URL)
  try {
    await verifySmtp(SMTP_URL, 5_000)
    return [fine('mail', `${host} accepts this server, which sends as ${MAIL_FROM ?? ''}.`)]
  } catch (error) {
    return [fault('mail', `${host} does not accept this server: ${reasonOf(error)}. Check SMTP_URL.`)]
  }
}

const RECOUNT_MS = 20_000
const BACKUP_HOURS_MAX = 26
