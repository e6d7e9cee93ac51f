import type pg from 'pg'
import { openDatabase } from '../../database/client.ts'
import { markMoved } from '../../database/embedded/database.ts'
import { migrate } from '../../database/migrate.ts'
import { findDifferences } from '../../ledger/store/check.ts'
import { copyAll } from './copy.ts'
import { refused, type Progress, type Table } from './model.ts'
import { connected, openSource, sumOf, type OpenSource } from './source.ts'
import { begin, finish, judge, makeReady, type State } from './target.ts'

export interface TransferInput {
  readonly dataDir: string
  readonly to: string
  readonly dryRun: boolean
  /** For tests, which move little data and kill the move in the middle. */
  readonly blocksAtOnce?: number
}

export interface Reporter {
  say(sentence: string): void
  progress(progress: Progress): void
}

/** Moves the whole embedded database to a server; the source is only read. A killed move resumes where it was. */
export async function move({ dataDir, to, dryRun, blocksAtOnce }: TransferInput, reporter: Reporter): Promise<void> {
  const target = await connected(to).catch((cause: unknown) => {
    throw refused(`The target cannot be reached: ${(cause as Error).message || 'no answer'}.`)
  })
  try {
    const source = await openSource(dataDir)
    try {
      await copyTo(source, target, { to, dryRun, blocksAtOnce }, reporter)
      if (!dryRun) markMoved(dataDir)
    } finally {
      await source.close()
    }
  } finally {
    await target.end().catch(() => undefined)
  }
}

async function copyTo(
  source: OpenSource,
  target: pg.Client,
  { to, dryRun, blocksAtOnce }: { to: string; dryRun: boolean; blocksAtOnce: number | undefined },
  reporter: Reporter,
): Promise<void> {
  await lock(target)
  const state = await judge(target, source.source)
  const megabytes = source.tables.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
  reporter.say(`${String(source.tables.length)} tables, ${megabytes.toFixed(1)} MB. ${MESSAGES[state]}`)
  await reportSortOrder(target, reporter)
  if (dryRun || state === 'finished') return
  if (state === 'empty') await begin(target, source.source)
  if (state !== 'copying') {
    await migrate(to)
    await makeReady(target, source.tables)
  }
  const reader = await source.connect()
  try {
    const started = performance.now()
    const report = (progress: Progress) => {
      reporter.progress(progress)
    }
    const bytes = await copyAll(reader, target, source.tables, { report, blocksAtOnce })
    const seconds = (performance.now() - started) / 1000
    reporter.say(
      `Copied ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s, ${(bytes / 1e6 / Math.max(seconds, 0.001)).toFixed(0)} MB/s.`,
    )
    const rows = await compare(reader, target, source.tables)
    reporter.say(`All ${String(rows)} rows of all ${String(source.tables.length)} tables are the same on both sides.`)
    await checkBooks(to)
    reporter.say('The ledger is sound.')
    await finish(target, reader, source.tables)
    await target.query('ANALYZE')
  } finally {
    await reader.end()
  }
}

const MESSAGES: Readonly<Record<State, string>> = {
  empty: 'The target is empty.',
  begun: 'A move of this database to the target had just begun: it resumes.',
  copying: 'The target has part of this database: the move resumes.',
  finished: 'This move was finished before: nothing is left to do.',
}

/** Another move to the same place, of another database, would find it empty too. */
async function lock(target: pg.Client): Promise<void> {
  const { rows } = await target.query<{ taken: boolean }>('SELECT pg_try_advisory_lock(72707370) AS taken')
  if (rows[0]?.taken !== true) throw refused('Another move to this target is in progress.')
}

/** Nothing depends on it, but lists that are sorted by name would come in another order than before. */
async function reportSortOrder(target: pg.Client, reporter: Reporter): Promise<void> {
  const { rows } = await target.query<{ other: boolean }>(`SELECT 'a' < 'B' AS other`)
  if (rows[0]?.other === true) {
    reporter.say(
      `The target sorts text by a language's rules. The embedded database sorts by code point, as LOCALE 'C' does.`,
    )
  }
}

async function compare(source: pg.Client, target: pg.Client, tables: readonly Table[]): Promise<number> {
  const differing: string[] = []
  let all = 0
  for (const table of tables) {
    const [here, there] = await Promise.all([sumOf(source, table), sumOf(target, table)])
    all += Number(here.rows)
    if (here.rows !== there.rows) differing.push(`${table.name} (${here.rows} rows, ${there.rows} in the target)`)
    else if (here.sum !== there.sum) differing.push(`${table.name} (other content)`)
  }
  if (differing.length > 0)
    throw refused(`The target differs from the source in ${differing.join(', ')}: it is not used.`)
  return all
}

async function checkBooks(url: string): Promise<void> {
  const database = openDatabase({ url, poolMax: 2 })
  try {
    const [first, ...others] = await database.transaction(findDifferences, {
      timeoutMs: 3_600_000,
      isolationLevel: 'RepeatableRead',
    })
    if (first === undefined) return
    throw refused(
      `The ledger is not sound, in ${String(1 + others.length)} places; the first: ${first.subject}, ${first.figure}. "npm run ledger -- check" on the source names all.`,
    )
  } finally {
    await database.close()
  }
}
