import fc from 'fast-check'
import { chargeFor, ChargeBatch, decide, persisting, type Charge } from '../../service/charging/service.ts'
import { Departure } from '../../service/kit/departure.ts'
import { invalid } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import type { StatementPool, Statements } from '../../service/kit/transaction.ts'
import { holdEnded, holdMissing, isHoldLost, movementConflict, unaffordable } from '../../service/ledger/errors.ts'
import type { Act, ActOutcome } from '../../service/ledger/model.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const owner = { userId: 'usr_payer', environment: 'sandbox' as const }
const PRICE = usdc(10n)

function reserveOf(hold: string, deadline: Date) {
  return { id: hold, owner, amount: PRICE, useCredits: false, deadline, reference: null }
}
function captureOf(hold: string) {
  const capture = {
    hold,
    owner,
    amount: PRICE,
    shares: [],
    kind: 'capture',
    reference: null,
    announcements: [],
  } as const
  return { capture }
}
function releaseOf(hold: string) {
  return { release: { hold, owner, announcements: [] } }
}

describe('what is written for an outcome in the ledger', () => {
  const acts: readonly Act[] = [{ reserve: reserveOf('h', new Date(0)) }, captureOf('h'), releaseOf('h')]
  const lost = [holdEnded('h', 'expired'), holdMissing('h')]
  const refusals = [...lost, movementConflict('h'), unaffordable(PRICE, usdc(0n)), new Error('a fault of ours')]
  const outcomes: readonly ActOutcome[] = [
    { hold: { id: 'h', amount: PRICE, fromCredits: usdc(0n) } },
    { ended: { captured: PRICE, replayed: false } },
    { ended: { captured: PRICE, replayed: true } },
    { askAgain: true },
    ...refusals.map((refusal) => ({ refusal })),
  ]
  const charges = fc.record({
    act: fc.constantFrom(...acts),
    row: fc.constant('row'),
    late: fc.constantFrom('late', undefined),
  })

  test('the row stands only with its money: refused or undecided acts write none, a lost hold at most the late one', () => {
    fc.assert(
      fc.property(charges, fc.constantFrom(...outcomes), ({ late, ...charge }, outcome) => {
        const decision = decide(late === undefined ? charge : { ...charge, late }, outcome)
        if ('hold' in outcome || 'ended' in outcome) return expect(decision).toEqual({ row: 'row' })
        if ('askAgain' in outcome || !isHoldLost(outcome.refusal)) return expect(decision).toBe(outcome)
        if ('release' in charge.act) return expect(decision).toEqual({ row: 'row' })
        return expect(decision).toEqual(late === undefined ? outcome : { row: late })
      }),
    )
  })

  test('an act without an outcome is a mistake of ours', () => {
    expect(() => decide({ act: releaseOf('h'), row: 'row' }, undefined)).toThrow('without an outcome')
  })
})

describe('work that persists', () => {
  test('is tried four times with growing pauses, and a refusal ends it at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.boolean(), async (failures, isRefused) => {
        let tries = 0
        const pauses: number[] = []
        const work = () => {
          if (tries++ < failures) return Promise.reject(new Error('the database is away'))
          return isRefused ? Promise.reject(holdMissing('h')) : Promise.resolve('done')
        }
        const result = await persisting(work, (ms) => Promise.resolve(pauses.push(ms))).catch((error: unknown) => error)
        expect(tries).toBe(Math.min(failures, 3) + 1)
        expect(pauses).toEqual([100, 500, 2_000].slice(0, failures))
        if (failures > 3) expect(result).toMatchObject({ message: 'the database is away' })
        else if (isRefused) expect(result).toMatchObject({ code: 'lock_not_found' })
        else expect(result).toBe('done')
      }),
    )
  })
})

/** A row as a product has one. */
interface Row {
  id: string
  state: 'open' | 'paid' | 'unpaid' | 'late'
}

/** The next transactions fail, before they are sent or after their commit. */
function failing(statements: StatementPool) {
  const faults: ('before' | 'after')[] = []
  const counted = { transactions: 0 }
  const pool: StatementPool = {
    run: (text, values, name) => statements.run(text, values, name),
    async together(work) {
      counted.transactions++
      const fault = faults.shift()
      if (fault === 'before') throw new Error('the database is away')
      const result = await statements.together(work)
      if (fault === 'after') throw new Error('the answer was lost')
      return result
    },
  }
  return { pool, faults, counted }
}

describe('work whose price is held', () => {
  let database: TestDatabase
  let ledger: Ledger
  let batch: ChargeBatch<Row>
  let faulty: ReturnType<typeof failing>
  /** `write` refuses this row. */
  let refused: string | null = null
  const clock = new TestClock()
  let holds = 0

  async function write(inside: Statements, rows: readonly Row[]): Promise<ReadonlySet<string>> {
    if (rows.some(({ id }) => id === refused)) throw invalid({ amount: 'is too much' })
    const written = await inside.run<{ id: string }>(
      `INSERT INTO charged AS c SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (id) DO UPDATE SET state = excluded.state
       WHERE c.state = 'open' RETURNING id`,
      [rows.map(({ id }) => id), rows.map(({ state }) => state)],
    )
    return new Set(written.map(({ id }) => id))
  }

  async function stateOf(id: string): Promise<string | null> {
    const rows = await database.statements.run<Row>('SELECT * FROM charged WHERE id = $1', [id])
    return rows[0]?.state ?? null
  }

  const begin = (id: string): Charge<Row> => ({
    act: { reserve: reserveOf(id, new Date(clock.now().getTime() + 60_000)) },
    row: { id, state: 'open' },
  })
  const paid = (id: string): Charge<Row> => ({ act: captureOf(id), row: { id, state: 'paid' } })
  const late = (id: string): Charge<Row> => ({ ...paid(id), late: { id, state: 'late' } })
  const unpaid = (id: string): Charge<Row> => ({ act: releaseOf(id), row: { id, state: 'unpaid' } })

  async function held(): Promise<string> {
    const id = `h${String(++holds)}`
    await batch.begin(begin(id))
    return id
  }

  async function funds() {
    const { available, locked, spent } = (await ledger.wallet(owner))!.funds
    return { available, locked, spent }
  }

  beforeAll(async () => {
    database = await testDatabase()
    await database.statements.run('CREATE TABLE charged (id text PRIMARY KEY, state text NOT NULL)', [])
    faulty = failing(database.statements)
    ledger = createLedger(createLedgerStore(faulty.pool, clock), clock)
    batch = new ChargeBatch<Row>({ guard: ledger, write, isAlone: ({ id }) => id.startsWith('alone') })
    await ledger.openAccounts(owner.userId)
    await ledger.credit({ id: 'd', kind: 'deposit', owner, amount: usdc(100_000n), reference: null, act: 'test' })
  })
  beforeEach(() => {
    faulty.faults.length = 0
    refused = null
  })
  afterEach(async () => {
    expect((await funds()).locked).toBe(0n)
    expect(await ledger.differences()).toEqual([])
  })
  afterAll(() => database.close())

  test.each(['before', 'after'] as const)('a database that fails %s the commit charges it once', async (fault) => {
    const before = await funds()
    const id = await held()
    faulty.faults.push(fault)
    const { row } = await batch.end(paid(id))
    expect([row.state, await stateOf(id)]).toEqual(['paid', 'paid'])
    expect((await funds()).spent).toBe(before.spent + PRICE)
  })

  test('a hold that the database did not take is an error, and has no row', async () => {
    faulty.faults.push('before')
    await expect(batch.begin(begin('h0'))).rejects.toThrow('away')
    expect(await stateOf('h0')).toBeNull()
  })

  test('a hold that ended early is not captured: the charge is refused, or its late row is written', async () => {
    const before = await funds()
    const [refusing, replaced, released] = [await held(), await held(), await held()]
    clock.forward(120_000)
    expect(await ledger.sweep()).toBe(3)
    const [refusal, ...rows] = await Promise.allSettled([
      batch.end(paid(refusing)),
      batch.end(late(replaced)),
      batch.end(unpaid(released)),
    ])
    expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'lock_ended' } })
    expect(rows).toMatchObject([
      { value: { row: { state: 'late' }, isNew: true } },
      { value: { row: { state: 'unpaid' }, isNew: true } },
    ])
    expect([await stateOf(refusing), await stateOf(replaced), await stateOf(released)]).toEqual([
      'open',
      'late',
      'unpaid',
    ])
    expect(await funds()).toEqual(before)
  })

  test('a hold that was lost with the database is refused and released alike', async () => {
    await expect(batch.end(paid('never'))).rejects.toMatchObject({ code: 'lock_not_found' })
    expect(await batch.end(unpaid('never'))).toEqual({ row: { id: 'never', state: 'unpaid' }, isNew: true })
  })

  test('the first end stands, and the second has written nothing', async () => {
    const id = await held()
    expect(await batch.end(unpaid(id))).toMatchObject({ isNew: true })
    expect(await batch.end(late(id))).toMatchObject({ isNew: false })
    expect(await stateOf(id)).toBe('unpaid')
  })

  test('charges of one moment are one transaction, in which a refused one leaves its neighbours alone', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, held))
    const before = faulty.counted.transactions
    const ends = await Promise.allSettled([...ids.map((id) => batch.end(paid(id))), batch.end(paid('unknown'))])
    expect(faulty.counted.transactions - before).toBe(1)
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => 'paid'))
  })

  test('a row that may be refused is alone in its transaction, and its refusal takes back its hold only', async () => {
    refused = 'alone'
    const before = faulty.counted.transactions
    const [alone, beside] = await Promise.allSettled([batch.begin(begin('alone')), held()])
    expect(faulty.counted.transactions - before).toBe(2)
    expect(alone).toMatchObject({ status: 'rejected', reason: { code: 'invalid_input' } })
    expect(await stateOf('alone')).toBeNull()
    await batch.end(unpaid((beside as PromiseFulfilledResult<string>).value))
  })

  /** Does work under a departure, as products do; answers the state that its row has. */
  async function charged(id: string, departure: Departure, work: () => Promise<unknown>): Promise<string> {
    return await chargeFor<unknown, string>({
      signal: departure.signal,
      work,
      capture: async () => (await batch.end(late(id))).row.state,
      release: async () => (await batch.end(unpaid(id))).row.state,
    })
  }

  test('taken back before its request leaves it is free, and the request never leaves', async () => {
    const before = await funds()
    const departure = new Departure()
    // It ignores the signal, and is not waited for.
    const end = charged(await held(), departure, () => new Promise(() => undefined))
    expect(departure.recall(new Error('enough'))).toBe(true)
    expect(await end).toBe('unpaid')
    expect(() => departure.leave()).toThrow('enough')
    expect(await funds()).toEqual(before)
  })

  test('taken back after its request has left it goes on and is charged', async () => {
    const before = await funds()
    const departure = new Departure()
    let finish: () => void = () => undefined
    const end = charged(await held(), departure, () => {
      departure.leave()
      return new Promise<void>((resolve) => (finish = resolve))
    })
    expect(departure.recall(new Error('enough'))).toBe(false)
    finish()
    expect(await end).toBe('paid')
    expect((await funds()).spent).toBe(before.spent + PRICE)
  })

  test('ended after its request has left it is free', async () => {
    const departure = new Departure()
    const end = charged(await held(), departure, () => {
      departure.leave()
      return new Promise(() => undefined)
    })
    departure.end(new Error('the process is stopping'))
    expect(await end).toBe('unpaid')
  })

  test('is released with the reason of the signal, whatever the work makes of it, also where both come at once', async () => {
    const enough = new Error('enough')
    const reasonOf = async (work: (departure: Departure) => Promise<unknown>) => {
      const departure = new Departure()
      const capture = () => Promise.reject(new Error('this must not be captured'))
      const release = (error: unknown) => Promise.resolve(error)
      return await chargeFor({ signal: departure.signal, work: () => work(departure), capture, release })
    }
    const throws = (departure: Departure) => {
      departure.end(enough)
      throw new Error('the socket was closed')
    }
    expect(await reasonOf(throws)).toBe(enough)
    expect(await reasonOf((departure) => Promise.resolve().then(() => throws(departure)))).toBe(enough)
    const atOnce = reasonOf((departure) => {
      const done = Promise.resolve('done')
      // After the result has reached what waits for it, and before that goes on.
      queueMicrotask(() => void done.then(() => departure.end(enough)))
      return done
    })
    expect(await atOnce).toBe(enough)
  })

  test('a price that cannot be held is no work, and nothing is ended', async () => {
    const never = () => Promise.reject(new Error('this must not be called'))
    const hold = () => Promise.reject(unaffordable(PRICE, usdc(0n)))
    const { signal } = new AbortController()
    const end = chargeFor<never, never>({ signal, hold, work: never, capture: never, release: never })
    await expect(end).rejects.toMatchObject({ code: 'insufficient_balance' })
  })

  test('work is paid if and only if its row says so, however it ends', async () => {
    const plan = fc.record({
      work: fc.constantFrom('succeeds', 'fails', 'is taken back', 'is stopped', 'is late'),
      // A second end of the same hold, as a sweeper makes it.
      twice: fc.boolean(),
      fault: fc.constantFrom(null, null, null, 'before', 'after'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 20, maxLength: 20 }), async (plans) => {
        const before = await funds()
        const ids = await Promise.all(plans.map(held))
        const lateOnes = ids.filter((_, place) => plans[place]!.work === 'is late')
        await Promise.all(lateOnes.map((hold) => ledger.release(releaseOf(hold).release)))
        // One outage of the database meets all that is under way.
        const fault = plans.find((one) => one.fault !== null)?.fault
        if (fault != null) faulty.faults.push(fault)
        const ends = plans.map(async ({ work, twice }, place) => {
          const id = ids[place]!
          const departure = new Departure()
          const end = charged(id, departure, async () => {
            if (work === 'fails') throw new Error('the tool failed')
            if (work === 'is stopped') departure.leave()
            if (work === 'is taken back') departure.recall()
            if (work === 'is stopped') departure.end(new Error('stopping'))
            await Promise.resolve()
          })
          await Promise.all([end, ...(twice ? [batch.end(unpaid(id))] : [])])
          return await stateOf(id)
        })
        const states = await Promise.all(ends)
        states.forEach((state, place) => {
          const { work, twice } = plans[place]!
          if (work !== 'succeeds') expect(state).not.toBe('paid')
          else if (!twice) expect(state).toBe('paid')
        })
        const count = BigInt(states.filter((state) => state === 'paid').length)
        expect(await funds()).toEqual({
          available: before.available - count * PRICE,
          locked: 0n,
          spent: before.spent + count * PRICE,
        })
      }),
      { numRuns: 12 },
    )
  })
})
