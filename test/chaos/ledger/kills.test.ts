import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase, type Database } from '../../../service/database/client.ts'
import { attachOrStart, startEmbedded } from '../../../service/database/embedded/database.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { createLedgerStore } from '../../../service/ledger/store/ledger.ts'
import { Mortal } from './mortal.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 100)
const CLIENTS = 64
const WALLETS = 16

describe.each(['the embedded database', 'a PostgreSQL server'])('kill -9 under load, on %s', (kind) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))
  const onServer = kind === 'a PostgreSQL server'

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test(`${String(KILLS)} kills lose no acknowledged write`, async () => {
    const own =
      onServer && process.env['CHAOS_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
    const mortal = new Mortal(onServer ? (process.env['CHAOS_DATABASE_URL'] ?? own?.url ?? '') : folder)
    const expected = await underLoad(mortal)
    expect(mortal.kills).toBe(KILLS)
    // If no command was ever cut off, the kills proved nothing.
    expect(mortal.repeated).toBeGreaterThan(KILLS / 2)
    const attached = onServer ? null : await attachOrStart({ dataDir: folder })
    const url = attached?.url ?? process.env['CHAOS_DATABASE_URL'] ?? own?.url ?? ''
    const database = openDatabase({ url, poolMax: 2 })
    await compare(database, expected)
    await database.close()
    await mortal.end()
    await attached?.stop()
    await own?.stop()
  }, 1_200_000)
})

/** Sixty-four clients at work until the last kill; each records the acknowledgements it got. */
async function underLoad(mortal: Mortal): Promise<Expected[]> {
  const mark = Math.random().toString(36).slice(2)
  const expected = Array.from({ length: WALLETS }, (_, count) => new Expected(`usr_${mark}${String(count)}`))
  for (const { userId } of expected) await mortal.send({ act: 'open', userId })
  let over = false
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const own = expected[client % WALLETS]
    if (own === undefined) throw new Error('every client has a wallet')
    for (let round = 0; !over; round++) await charge(mortal, own, `${mark}.${String(client)}.${String(round)}`, round)
  })
  while (mortal.kills < KILLS) {
    const before = acknowledged(expected)
    // Each process does some work before it is killed, so the load decides the moment.
    while (acknowledged(expected) < before + 200) await new Promise(setImmediate)
    await mortal.killAndRestart()
  }
  over = true
  await Promise.all(clients)
  return expected
}

async function charge(mortal: Mortal, own: Expected, id: string, round: number): Promise<void> {
  const { userId } = own
  await mortal.send({ act: 'deposit', userId, id: `dep.${id}`, amount: 1000 })
  own.deposited += 1000n
  own.acknowledged++
  const refused = await mortal.send({ act: 'reserve', userId, id: `run.${id}`, amount: 900 })
  own.acknowledged++
  if (refused !== null) throw new Error(`a wallet with enough was refused: ${refused}`)
  if (round % 3 === 0) {
    await mortal.send({ act: 'release', userId, id: `run.${id}` })
  } else if (round % 3 === 1) {
    await mortal.send({ act: 'capture', userId, id: `run.${id}`, amount: 700 })
    own.spent += 700n
    own.captures++
  } else {
    own.locked += 900n
  }
  own.acknowledged++
}

class Expected {
  deposited = 0n
  spent = 0n
  locked = 0n
  captures = 0
  acknowledged = 0
  readonly userId: string

  constructor(userId: string) {
    this.userId = userId
  }
}

function acknowledged(expected: readonly Expected[]): number {
  return expected.reduce((total, one) => total + one.acknowledged, 0)
}

async function compare(database: Database, expected: readonly Expected[]): Promise<void> {
  const store = createLedgerStore(database.statements, systemClock)
  expect(await store.differences()).toEqual([])
  for (const { userId, deposited, spent, locked } of expected) {
    const wallet = await store.wallet({ userId, environment: 'sandbox' })
    expect(wallet?.funds).toEqual({ available: deposited - spent - locked, locked, deposited, spent })
  }
  const [totals] = await database.statements.run<{ rows: bigint; captures: bigint }>(
    `SELECT count(*) AS rows, count(DISTINCT payload ->> 'id') AS captures FROM outbox WHERE topic = 'chaos.captured'`,
    [],
  )
  const captures = BigInt(expected.reduce((total, one) => total + one.captures, 0))
  // Each capture announced exactly once: its row is in its own statement.
  expect(totals).toEqual({ rows: captures, captures })
}
