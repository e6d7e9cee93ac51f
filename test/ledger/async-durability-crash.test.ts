import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { startEmbedded, type Embedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { serverOf } from '../database/processes.ts'

const LOCKED = usdc(10n)
const CLIENTS = 24
const KILLS = Number(process.env['CHAOS_KILLS'] ?? 2)

/**
 * Placing a hold of asynchronous durability does not wait for the disk. The server here writes its log as rarely as it
 * can and is ended at once, without a clean shutdown: only a hold may be lost, never money, and never half of a charge.
 */
describe('holds of asynchronous durability when the database crashes', () => {
  const owner = { userId: 'usr_crash', environment: 'sandbox' as const }
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-async-'))
  let server: Embedded
  let database: Database
  let ledger: Ledger

  beforeAll(async () => {
    // Only writes that a client waits for are flushed: without this setting, losing a hold would be a matter of luck.
    server = await startEmbedded({ dataDir: folder, settings: { wal_writer_delay: '10000ms' } })
    await migrate(server.url)
    database = openDatabase({ url: server.url, poolMax: 8 })
    ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
    await ledger.openAccounts(owner.userId)
  })
  afterAll(async () => {
    await database.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a lock that was lost is no lock: nothing is charged for it, and all of the money is there', async () => {
    await credit('first', 1_000n)
    await ledger.reserve(lock('lost'))
    expect((await funds()).locked).toBe(LOCKED)
    await crash()
    expect(await funds()).toMatchObject({ available: 1_000n, locked: 0n, spent: 0n })
    expect(await charge('lost')).toBe('refused')
    expect(await funds()).toMatchObject({ available: 1_000n, locked: 0n, spent: 0n })
    expect(await ledger.differences()).toEqual([])
    // Placed again under its name, it is a hold like any other, and charged once.
    await ledger.reserve(lock('lost'))
    expect([await charge('lost'), await charge('lost')]).toEqual(['charged', 'charged'])
    expect(await funds()).toMatchObject({ available: 990n, locked: 0n, spent: 10n })
  })

  test('a charge that was acknowledged stays, with the lock that it was made from', async () => {
    const before = await funds()
    await ledger.reserve(lock('kept'))
    expect(await charge('kept')).toBe('charged')
    await crash()
    expect((await funds()).spent).toBe(before.spent + LOCKED)
    expect(await charge('kept')).toBe('charged')
    expect((await funds()).spent).toBe(before.spent + LOCKED)
    expect(await ledger.differences()).toEqual([])
  })

  test(`${String(KILLS)} crashes under load: each charge happens once or not at all, as it was answered`, async () => {
    await credit('more', 1_000_000n)
    const before = await funds()
    const outcomes = new Map<string, 'charged' | 'refused' | 'unknown'>()
    let over = false
    const surprises: unknown[] = []
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let round = 0; !over; round++) {
        const id = `call.${String(client)}.${String(round)}`
        try {
          await ledger.reserve(lock(id))
        } catch (error) {
          if (error instanceof DomainError) surprises.push(error)
          // A refusal comes at once; without this pause, repeated refusals would leave no time for other work.
          await new Promise(setImmediate)
          continue
        }
        outcomes.set(id, await charge(id))
      }
    })
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const target = outcomes.size + 100
        while (outcomes.size < target && surprises.length === 0) await new Promise(setImmediate)
        await crash()
      }
    } finally {
      over = true
    }
    await Promise.all(clients)
    expect(surprises).toEqual([])

    // Charges without a response are repeated, as a retried call does.
    for (const [id, word] of outcomes) if (word === 'unknown') outcomes.set(id, await settled(id))
    const charged = [...outcomes.values()].filter((word) => word === 'charged').length
    expect(charged).toBeGreaterThan(100)
    const after = await funds()
    expect(after.spent - before.spent).toBe(LOCKED * BigInt(charged))
    // Holds whose placing was cut off may or may not exist; the locked amount matches those that do.
    expect(after.available + after.locked).toBe(before.available + before.locked - LOCKED * BigInt(charged))
    expect(await ledger.differences()).toEqual([])
    for (const id of [...outcomes.keys()].slice(0, 20)) await settled(id)
    expect((await funds()).spent).toBe(after.spent)
  })

  function lock(id: string) {
    const deadline = new Date(Date.now() + 3_600_000)
    return { id, owner, amount: LOCKED, useCredits: false, deadline, reference: null, durability: 'async' as const }
  }

  /** The result that the caller of a charge gets. */
  async function charge(hold: string): Promise<'charged' | 'refused' | 'unknown'> {
    try {
      const announcements = [] as const
      await ledger.capture({ hold, owner, amount: LOCKED, shares: [], kind: 'capture', reference: null, announcements })
      return 'charged'
    } catch (error) {
      return error instanceof DomainError ? 'refused' : 'unknown'
    }
  }

  async function settled(hold: string): Promise<'charged' | 'refused'> {
    for (;;) {
      const word = await charge(hold)
      if (word !== 'unknown') return word
    }
  }

  async function credit(id: string, amount: bigint): Promise<void> {
    await ledger.credit({ id, kind: 'deposit', owner, amount: usdc(amount), reference: null, act: 'test' })
  }

  async function funds() {
    const { funds: found } = (await createLedgerStore(database.statements, systemClock).wallet(owner))!
    return found
  }

  /** PostgreSQL's immediate shutdown: all of its processes end at once, and unwritten data is lost. */
  async function crash(): Promise<void> {
    const ended = serverOf(folder)
    process.kill(ended, 'SIGQUIT')
    for (;;) {
      // The old process may respond once more, and between the two there is no process id.
      const isNew = await database
        .ping()
        .then(() => serverOf(folder) !== ended)
        .catch(() => false)
      if (isNew) return
      await new Promise(setImmediate)
    }
  }
})
