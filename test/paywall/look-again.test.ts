import { NO_FAILPOINTS } from '../../service/kit/failpoints.ts'
import { usdc } from '../../service/kit/money.ts'
import { lookingAgain } from '../../service/paywall/middleware/look-again.ts'
import { memoryBooks } from '../../service/paywall/middleware/memory.ts'
import type { Delivered, NewSale, Settled } from '../../service/sales/model.ts'
import type { SaleMethod } from '../../service/sales/ports.ts'

const START = Date.parse('2030-01-01T00:00:00Z')
const HASH = `0x${'ab'.repeat(32)}`
const MINUTE_MS = 60_000

describe('settlements of the middleware without an outcome', () => {
  let at: number
  let outcome: Settled
  let asked: number
  let events: string[]
  let books: ReturnType<typeof memoryBooks>
  let looks: ReturnType<typeof lookingAgain>
  /** While it is set, the facilitator answers once this is done. */
  let answering: Promise<void> | null
  beforeEach(() => {
    at = START
    outcome = { status: 'pending' }
    asked = 0
    events = []
    answering = null
    const clock = { now: () => new Date(at) }
    books = memoryBooks({ ...clock, onEvent: ({ event }) => events.push(event) })
    const method: SaleMethod = {
      signed: true,
      simulated: false,
      verify: () => Promise.reject(new Error('not called')),
      async settle() {
        asked += 1
        await answering
        return outcome
      },
    }
    looks = lookingAgain(books, {
      methods: { of: () => method },
      clock,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      measures: { count: () => undefined },
      failpoints: NO_FAILPOINTS,
      settleMs: 25_000,
    })
  })

  const sold = {
    id: 'pay_1',
    product: 'gate',
    subject: 'pwl_1',
    userId: 'own',
    amount: 50_000n,
    network: 'base-sepolia',
    payer: `0x${'a1'.repeat(20)}`,
    digest: `0x${'c3'.repeat(32)}`,
    identifier: null,
    request: null,
    escrow: null,
    details: { kind: 'request', route: 'GET /', endpoint: 'GET /', windowStart: null, cost: null },
    leaseUntil: new Date(START + MINUTE_MS),
    createdAt: new Date(START),
  } as unknown as NewSale
  const claim = { state: 'claimed', resumeAt: null, promised: false, balance: null, note: null } as const
  const hold = {
    paywallId: 'pwl_1',
    network: 'base-sepolia',
    route: 'GET /',
    by: { payer: sold.payer },
    amount: usdc(1n),
    minimum: usdc(0n),
  } as const
  const made = { answer: null, bodyHash: null, details: null, amount: null }

  /** Its buyer's request has ended without an outcome, and the buyer has gone. */
  async function leftOpen(delivered: Delivered = made): Promise<void> {
    const until = new Date(at + MINUTE_MS)
    await looks.journal.begin(sold, claim)
    await looks.journal.settling(sold, delivered, until)
    await looks.journal.leave({ id: sold.id, leaseUntil: until })
  }

  async function later(ms: number): Promise<void> {
    at += ms
    await looks.run()
  }

  it('end as paid, once, without their buyer', async () => {
    await leftOpen()
    await later(5_000)
    expect([asked, await books.findById('pay_1')]).toMatchObject([1, { state: 'settling', leaseUntil: null }])
    outcome = { status: 'settled', txHash: HASH }
    for (const wait of [5_000, MINUTE_MS, MINUTE_MS]) await later(wait)
    expect(await books.findById('pay_1')).toMatchObject({ state: 'paid', txHash: HASH, handover: 'none' })
    expect([asked, events, books.revenue]).toEqual([2, ['payment.completed', 'customer.first_payment'], 50_000n])
  })

  it('leave what their buyer is owed for 26 hours, and no longer', async () => {
    const answer = { meta: { status: 200, headers: [] }, body: Buffer.from('made') }
    await leftOpen({ ...made, answer })
    outcome = { status: 'settled', txHash: HASH }
    await later(5_000)
    const forget = () => books.hold({ ...hold, call: `op_${String(at)}`, until: new Date(at) })
    at += 26 * 60 * MINUTE_MS - 1
    await forget()
    expect(await books.findById('pay_1')).toMatchObject({ handover: 'none', owedUntil: new Date(at + 1) })
    expect(await books.answerOf('pay_1')).toEqual(answer)
    at += MINUTE_MS
    await forget()
    expect([await books.findById('pay_1'), await books.answerOf('pay_1')]).toEqual([null, null])
  })

  it('end as failed once the authorization is over', async () => {
    await leftOpen()
    outcome = { status: 'failed', reason: 'invalid_exact_evm_payload_authorization_valid_before' }
    await later(5_000)
    expect(await books.findById('pay_1')).toMatchObject({ state: 'failed' })
    expect([events, books.revenue]).toEqual([['payment.failed'], 0n])
  })

  it('are left to the request that works on them', async () => {
    const until = new Date(at + MINUTE_MS)
    await looks.journal.begin(sold, claim)
    await looks.journal.settling(sold, made, until)
    await later(30_000)
    expect(asked).toBe(0)
    await later(31_000)
    expect(asked).toBe(1)
  })

  it('are leased during a look, so that a second one does not begin', async () => {
    await leftOpen()
    let answer = (): void => undefined
    answering = new Promise((resolve) => (answer = resolve))
    at += 5_000
    const first = looks.run()
    await later(15_000)
    expect(await looks.journal.take({ ...sold, ...claim }, new Date(at + MINUTE_MS), null)).toBeNull()
    answer()
    await first
    expect(asked).toBe(1)
  })

  it('are looked at more and more seldom, and not at all after a day', async () => {
    await leftOpen()
    for (let minute = 0; minute < 60; minute++) await later(MINUTE_MS)
    expect(asked).toBe(60)
    await later(15_000)
    expect(asked).toBe(60)
    await later(27 * 60 * MINUTE_MS)
    await later(MINUTE_MS)
    expect([asked, await books.findById('pay_1')]).toMatchObject([60, { state: 'settling' }])
  })

  it('are looked at again after a look that failed', async () => {
    await leftOpen()
    answering = Promise.reject(new Error('broken'))
    await later(5_000)
    answering = null
    outcome = { status: 'settled', txHash: HASH }
    await later(5_000)
    expect(await books.findById('pay_1')).toMatchObject({ state: 'paid' })
  })
})
