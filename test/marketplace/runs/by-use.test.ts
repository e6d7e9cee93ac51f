import { payUpto, type UptoTerms } from '../../harness/upto.ts'
import { usdcOf } from '../../facilitator/world.ts'
import { encoded } from '../../harness/wallet.ts'
import { guestWorld, type GuestWorld } from './guest-world.ts'

const PER_SECOND = {
  pricing: { model: 'per-second', amount: 0.01 },
  inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
}
const PER_TOKEN = { model: 'per-token', amount: 0.5 }

/** A guest permits the most that a run can come to, and pays what it came to. */
describe('a run that a guest pays by use', () => {
  let world: GuestWorld
  beforeAll(async () => {
    world = await guestWorld({ PLATFORM_FEE_BPS: '1000' })
  })
  afterAll(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    await world.close()
  })

  const acceptedBy = async (slug: string, inputs = { say: 'hello' }) => {
    const { headers } = await world.runAsGuest(slug, inputs)
    const header = headers.get('payment-required')!
    return (JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: (UptoTerms & { scheme: string })[] })
      .accepts
  }
  const permit = async (slug: string, payer = 100_000_000n) => {
    const account = await world.chain.payer(payer)
    const terms = (await acceptedBy(slug)).find(({ scheme }) => scheme === 'upto')
    if (terms === undefined) throw new Error('the asset is not sold by use')
    const { body } = await payUpto(world.chain, account, terms)
    return { account, most: BigInt(terms.amount), header: { 'payment-signature': encoded(body.paymentPayload) } }
  }
  const earned = async () => (await world.wallet(world.creator)).balance

  it('costs what its tokens cost, and its creator gets the part of that', async () => {
    const slug = await world.prompt({ slug: 'by-tokens', pricing: PER_TOKEN })
    const { account, most, header } = await permit(slug)
    const before = await earned()
    const run = await world.runAsGuest(slug, undefined, header)
    expect(run.status).toBe(200)
    const { usage, cost } = run.body as { usage: { total_tokens: number }; cost: number }
    const used = (usage.total_tokens * PER_TOKEN.amount) / 1_000
    expect(cost).toBeCloseTo(used, 6)
    const taken = BigInt(Math.round(used * 1_000_000))
    expect(taken).toBeLessThan(most)
    expect(await usdcOf(world.chain, account.address)).toBe(100_000_000n - taken)
    expect(await earned()).toBeCloseTo(before + used * 0.9, 6)
    const again = await world.runAsGuest(slug, undefined, header)
    expect([again.status, again.body.code]).toEqual([409, 'payment_submitted'])
    expect(await usdcOf(world.chain, account.address)).toBe(100_000_000n - taken)
  })

  it('costs the seconds that it took', async () => {
    world.server.on('/agent', () => ({ body: { status: 'completed', output: 'done' } }))
    const slug = await world.agent({}, { ...PER_SECOND, slug: 'by-seconds' })
    const { account, most, header } = await permit(slug)
    const run = await world.runAsGuest(slug, undefined, header)
    expect([run.status, run.body.cost]).toEqual([200, 0.01])
    expect(most).toBeGreaterThan(10_000n)
    expect(await usdcOf(world.chain, account.address)).toBe(99_990_000n)
  })

  it('costs nothing where it fails, and the payer must have the most before it begins', async () => {
    world.server.on('/agent', () => ({ body: { status: 'failed', error: 'no' } }))
    const slug = await world.agent({}, { ...PER_SECOND, slug: 'by-failed' })
    const { account, header } = await permit(slug)
    expect((await world.runAsGuest(slug, undefined, header)).status).toBe(500)
    expect(await usdcOf(world.chain, account.address)).toBe(100_000_000n)
    const poor = await permit(slug, 10_000n)
    const refused = await world.runAsGuest(slug, undefined, poor.header)
    expect([refused.status, refused.body.reason]).toEqual([402, 'permit2_insufficient_balance'])
  })

  it('is not offered where the price is fixed', async () => {
    const slug = await world.prompt({ slug: 'by-run' })
    expect((await acceptedBy(slug)).map(({ scheme }) => scheme)).toEqual(['exact'])
  })
})
