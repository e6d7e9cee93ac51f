import { sharedInProcess } from '../../service/paywall/middleware/authorizations.ts'
import { memoryBooks } from '../../service/paywall/middleware/memory.ts'
import { usdc } from '../../service/kit/money.ts'
import type { NewSale } from '../../service/sales/model.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2030-01-01T00:00:00Z')
const PAYER = `0x${'a1'.repeat(20)}` as const
const PROOF = `0x${'b2'.repeat(32)}` as const
const DIGEST = `0x${'c3'.repeat(32)}` as const

describe("the middleware's memory", () => {
  let at: number
  let books: ReturnType<typeof memoryBooks>
  beforeEach(() => {
    at = START
    books = memoryBooks({ now: () => new Date(at) })
  })

  /** What is no longer needed is dropped with the next call. */
  async function later(ms: number): Promise<void> {
    at += ms
    const by = { payer: PAYER }
    const hold = { call: `op_${String(at)}`, paywallId: 'pwl_1', network: 'base-sepolia', route: 'GET /', by } as const
    await books.hold({ ...hold, amount: 1n as never, minimum: 0n as never, until: new Date(at) })
  }

  const sold = {
    id: 'pay_1',
    subject: 'pwl_1',
    userId: 'own',
    payer: PAYER,
    digest: DIGEST,
    identifier: 'id_1',
    request: null,
    details: { kind: 'request', route: 'GET /', endpoint: 'GET /', windowStart: null, cost: null },
    leaseUntil: new Date(START + 60_000),
    createdAt: new Date(START),
  } as unknown as NewSale
  const claim = { state: 'claimed', resumeAt: null, promised: false, balance: null, note: null } as const
  const begin = (sale: NewSale) => books.begin(sale, claim)

  it('forgets a released sale after ten minutes, for which nothing was charged', async () => {
    await begin(sold)
    await books.release(sold, 'upstream_error')
    await later(HOUR_MS / 60)
    expect(await books.find(DIGEST)).toMatchObject({ id: 'pay_1', state: 'released' })
    await later(HOUR_MS)
    expect([await books.find(DIGEST), await books.findByIdentifier(PAYER, 'id_1')]).toEqual([null, null])
    expect(await begin({ ...sold, id: 'pay_2' })).toBe('pay_2')
  })

  it('keeps a released sale that was taken up again', async () => {
    await begin(sold)
    await books.release(sold, 'upstream_error')
    at += HOUR_MS
    const taken = await books.take(
      { id: 'pay_1', details: sold.details, promised: false, balance: null },
      new Date(at + 60_000),
      null,
    )
    await later(20_000)
    expect(await books.find(DIGEST)).toEqual(taken)
  })

  it('ends a sale whose work was lost once its lease is over, with its place in the tier, and forgets it', async () => {
    const tiers = [
      { upTo: 1, amount: usdc(5n) },
      { upTo: null, amount: usdc(3n) },
    ]
    const windowStart = new Date(START)
    const details = { ...sold.details, windowStart: windowStart.toISOString() }
    const tiered = { ...sold, amount: usdc(5n), network: 'base-sepolia', recipient: PAYER, details } as NewSale
    await books.begin(tiered, { ...claim, note: tiers })
    await later(50_000)
    expect(await books.find(DIGEST)).toMatchObject({ state: 'claimed' })
    await later(20_000)
    expect(await books.find(DIGEST)).toMatchObject({ state: 'released', reason: 'interrupted' })
    // The place is free: another payment of the first tier is taken.
    const next = { ...tiered, id: 'pay_2', digest: PROOF, identifier: null } as NewSale
    expect(await books.begin(next, { ...claim, note: tiers })).toBe('pay_2')
    await later(HOUR_MS)
    await later(HOUR_MS)
    expect([await books.find(DIGEST), await books.find(PROOF)]).toEqual([null, null])
  })

  it('lets a handler be paid that has taken longer than its lease while others bought', async () => {
    await begin(sold)
    await later(70_000)
    expect(await books.find(DIGEST)).toMatchObject({ state: 'released', reason: 'interrupted' })
    const made = { answer: null, bodyHash: null, details: null, amount: null }
    expect(await books.settling(sold, made, new Date(at + 60_000))).toBe(true)
    expect(await books.find(DIGEST)).toMatchObject({ state: 'settling', reason: null })
    // What was given back for another reason stays so.
    await begin({ ...sold, id: 'pay_2', digest: PROOF, identifier: null })
    await books.release({ ...sold, id: 'pay_2' }, 'upstream_error')
    expect(await books.settling({ id: 'pay_2', leaseUntil: null }, made, new Date(at + 60_000))).toBe(false)
  })

  it('an authorization whose work came to nothing buys at another paywall of the process, until it is used again', async () => {
    const now = () => new Date(at)
    const [one, other] = [sharedInProcess(books, now), sharedInProcess(memoryBooks({ now }), now)]
    const used = { ...sold, digest: `0x${'d4'.repeat(32)}`, identifier: null } as NewSale
    await one.begin(used, claim)
    await expect(other.begin({ ...used, id: 'pay_2' }, claim)).rejects.toMatchObject({ code: 'authorization_used' })
    await one.release(used, 'upstream_error')
    expect(await other.begin({ ...used, id: 'pay_2' }, claim)).toBe('pay_2')
    // The first one does not take it up again.
    const retaken = one.take({ ...used, ...claim }, new Date(at + 60_000), null)
    await expect(retaken).rejects.toMatchObject({ code: 'authorization_used' })
    // Work that was interrupted may still be paid.
    await other.release({ ...used, id: 'pay_2' }, 'interrupted')
    await expect(one.take({ ...used, ...claim }, new Date(at + 60_000), null)).rejects.toMatchObject({
      code: 'authorization_used',
    })
  })

  it('takes no proof that it would have to remember for more than 26 hours', async () => {
    const shared = sharedInProcess(books, () => new Date(at))
    const until = (hours: number) => BigInt((START + hours * HOUR_MS) / 1_000)
    await expect(shared.prove(PROOF, 'op_1', until(27))).rejects.toMatchObject({ code: 'proof_expired' })
    await expect(shared.prove(PROOF, 'op_1', 2n ** 256n - 1n)).rejects.toMatchObject({ code: 'proof_expired' })
    expect(await shared.prove(PROOF, 'op_1', until(26))).toBe(true)
  })

  it('keeps a sale whose money may be on its way', async () => {
    await begin(sold)
    const answer = { answer: null, bodyHash: null, details: null, amount: null }
    expect(await books.settling(sold, answer, new Date(START + 60_000))).toBe(true)
    await later(HOUR_MS)
    expect(await books.find(DIGEST)).toMatchObject({ state: 'settling' })
  })

  it('forgets a proof once its signature has expired, and not before', async () => {
    const validBefore = BigInt((START + HOUR_MS) / 1_000)
    expect(await books.prove(PROOF, 'op_1', validBefore)).toBe(true)
    await later(HOUR_MS - 1_000)
    expect([await books.prove(PROOF, 'op_1', validBefore), await books.prove(PROOF, 'op_2', validBefore)]).toEqual([
      true,
      false,
    ])
    await later(HOUR_MS)
    expect(await books.prove(PROOF, 'op_2', validBefore)).toBe(true)
  })
})
