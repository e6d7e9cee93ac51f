import { DomainError } from '../../service/kit/errors.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import type { Owner } from '../../service/kit/owner.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const FAR = new Date('2100-01-01T00:00:00.000Z')

describe('many at once', () => {
  let database: TestDatabase
  /** Three processes' worth: each with accounts, batches and a stripe of its own. */
  let ledgers: Ledger[]
  let people = 0

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 20 })
    ledgers = Array.from({ length: 3 }, () =>
      createLedger(createLedgerStore(database.statements, systemClock), systemClock),
    )
  })
  afterEach(async () => {
    expect(await at(0).differences()).toEqual([])
  })
  afterAll(async () => {
    await database.close()
  })

  test('500 holds on a balance for 300 succeed exactly 300 times', async () => {
    const owner = await withMoney(300n)
    const outcomes = await settleAll(500, (count) => lock(at(count), owner, `${owner.userId}.${String(count)}`, 1n))
    expect(outcomes).toEqual({ done: 300, insufficient_balance: 200 })
    expect((await at(0).wallet(owner))?.funds).toMatchObject({ available: 0n, locked: 300n })
  })

  test('a charge behind one above the balance still succeeds', async () => {
    const owner = await withMoney(10n)
    const amounts = [11n, 3n, 20n, 3n, 11n, 3n, 12n, 1n]
    const outcomes = await Promise.all(
      amounts.map((amount, count) => codeOf(lock(at(0), owner, `${owner.userId}.${String(count)}`, amount))),
    )
    expect(outcomes).toEqual(amounts.map((amount) => (amount > 10n ? 'insufficient_balance' : 'done')))
  })

  test('a refusal names the required and the available amount', async () => {
    const owner = await withMoney(2_500_000n)
    await expect(lock(at(0), owner, `${owner.userId}.x`, 3_000_000n)).rejects.toMatchObject({
      code: 'insufficient_balance',
      fields: { required: 3, available: 2.5 },
    })
  })

  test('sixty reservations under one id are one hold, also where the wallet can pay only once', async () => {
    const owner = await withMoney(100n)
    const outcomes = await settleAll(60, (count) => lock(at(count), owner, `${owner.userId}.same`, 60n))
    expect(outcomes).toEqual({ done: 60 })
    expect((await at(0).wallet(owner))?.funds).toMatchObject({ available: 40n, locked: 60n })
  })

  test('a hold captured and released concurrently ends once', async () => {
    const owner = await withMoney(100n)
    const id = `${owner.userId}.once`
    await lock(at(0), owner, id, 10n)
    const outcomes = await settleAll(60, (count) =>
      count % 2 === 0 ? capture(at(count), owner, id, 7n) : at(count).release({ hold: id, owner, announcements: [] }),
    )
    expect(outcomes).toEqual({ done: 30, lock_ended: 30 })
    const { available, locked } = (await at(0).wallet(owner))?.funds ?? {}
    expect(locked).toBe(0n)
    expect([93n, 100n]).toContain(available)
  })

  test('payments back and forth between two accounts never deadlock', async () => {
    const [one, other] = [await withMoney(1000n), await withMoney(1000n)]
    const pay = (ledger: Ledger, from: Owner, to: Owner, id: string): Promise<void> =>
      ledger.transfer({
        id,
        owner: from,
        amount: usdc(1n),
        shares: [{ to: { userId: to.userId }, amount: usdc(1n) }],
        reference: null,
      })
    const outcomes = await settleAll(200, (count) =>
      count % 2 === 0
        ? pay(at(count % 3), one, other, `${one.userId}.${String(count)}`)
        : pay(at((count + 1) % 3), other, one, `${other.userId}.${String(count)}`),
    )
    expect(outcomes).toEqual({ done: 200 })
    expect((await at(0).wallet(one))?.funds).toMatchObject({ available: 1000n, spent: 100n })
  })

  test('sweepers and captures racing for the same holds end each once', async () => {
    const owner = await withMoney(1000n)
    const past = new Date('2000-01-01T00:00:00.000Z')
    const ids = Array.from({ length: 100 }, (_, count) => `${owner.userId}.${String(count)}`)
    await Promise.all(ids.map((id) => lock(at(0), owner, id, 10n, past)))
    const [outcomes] = await Promise.all([
      settleAll(100, (count) => capture(at(count), owner, ids[count] ?? '', 10n)),
      at(1).sweep(),
      at(2).sweep(),
    ])
    const { available, locked, spent } = (await at(0).wallet(owner))?.funds ?? {}
    await at(0).sweep()
    expect(locked).toBe(0n)
    expect(spent).toBe(BigInt(outcomes['done'] ?? 0) * 10n)
    expect(available).toBe(1000n - (spent ?? 0n))
  })

  test('an account without a wallet is refused, and others in its batch are not affected', async () => {
    const owner = await withMoney(10n)
    const poorOwner = { userId: 'usr_nobody', environment: 'sandbox' as const }
    const outcomes = await Promise.all([
      codeOf(lock(at(0), poorOwner, 'nobody.1', 1n)),
      codeOf(lock(at(0), owner, `${owner.userId}.1`, 1n)),
    ])
    expect(outcomes).toEqual(['wallet_not_found', 'done'])
  })

  async function withMoney(amount: bigint): Promise<Owner> {
    const owner = { userId: `usr_c${String(people++)}`, environment: 'sandbox' as const }
    const id = `fund.${owner.userId}`
    await at(0).openAccounts(owner.userId)
    await at(0).credit({ id, kind: 'deposit', owner, amount: usdc(amount), reference: null, act: id })
    return owner
  }

  function at(count: number): Ledger {
    const ledger = ledgers[count % ledgers.length]
    if (ledger === undefined) throw new Error('there are three')
    return ledger
  }
})

function lock(ledger: Ledger, owner: Owner, id: string, amount: bigint, deadline = FAR) {
  return ledger.reserve({ id, owner, amount: usdc(amount), useCredits: false, deadline, reference: null })
}

function capture(ledger: Ledger, owner: Owner, hold: string, amount: bigint) {
  return ledger.capture({
    hold,
    owner,
    amount: usdc(amount),
    shares: [],
    kind: 'capture',
    reference: null,
    announcements: [],
  })
}

async function settleAll(count: number, act: (count: number) => Promise<unknown>): Promise<Record<string, number>> {
  const outcomes = await Promise.all(Array.from({ length: count }, (_, index) => codeOf(act(index))))
  const tally: Record<string, number> = {}
  for (const outcome of outcomes) tally[outcome] = (tally[outcome] ?? 0) + 1
  return tally
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}
