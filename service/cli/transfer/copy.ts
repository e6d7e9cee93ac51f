import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from, to } from 'pg-copy-streams'
import type { Progress, Table } from './model.ts'

/** Blocks of a table that travel together, 32 MB: what a kill costs at most, and what the target commits at once. */
const BLOCKS = 4_096

/**
 * Every table, a stretch of blocks at a time; each is one commit with the journal's line about it. Nothing is ever held
 * here but what is on its way. A table's rows do not move, since nothing writes to the source.
 */
export async function copyAll(
  source: pg.Client,
  target: pg.Client,
  tables: readonly Table[],
  { report, blocksAtOnce = BLOCKS }: CopyOptions,
): Promise<number> {
  const { rows } = await target.query<{ name: string; blocks: string }>('SELECT name, blocks FROM coinslot_move.copied')
  const copied = new Map(rows.map(({ name, blocks }) => [name, Number(blocks)]))
  const of = tables.reduce((bytes, table) => bytes + table.bytes, 0)
  let before = 0
  let bytes = 0
  for (const table of tables) {
    for (let block = copied.get(table.name) ?? 0; block < table.blocks; block += blocksAtOnce) {
      const done = before + (table.bytes * block) / Math.max(table.blocks, 1)
      report({ table: table.name, done, of, copied: bytes })
      const stretch = { first: block, end: Math.min(block + blocksAtOnce, table.blocks) }
      await copyStretch({ source, target }, table, stretch, (more) => {
        bytes += more
        report({ table: table.name, done, of, copied: bytes })
      })
    }
    before += table.bytes
  }
  return bytes
}

interface CopyOptions {
  report(progress: Progress): void
  blocksAtOnce?: number | undefined
}

async function copyStretch(
  { source, target }: { source: pg.Client; target: pg.Client },
  { name, columns }: Table,
  { first, end }: { first: number; end: number },
  count: (bytes: number) => void,
): Promise<void> {
  await target.query('BEGIN')
  const out = source.query(
    to(
      `COPY (SELECT ${columns} FROM ${name} WHERE ctid >= '(${String(first)},0)' AND ctid < '(${String(end)},0)') TO STDOUT`,
    ),
  )
  const into = target.query(from(`COPY ${name} (${columns}) FROM STDIN`))
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count(chunk.length)
      done(null, chunk)
    },
  })
  await pipeline(out, counter, into)
  await target.query(
    `INSERT INTO coinslot_move.copied VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET blocks = excluded.blocks`,
    [name, end],
  )
  await target.query('COMMIT')
}
