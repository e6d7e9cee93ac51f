import { echoed } from '../../../service/models/models.ts'
import { guestWorld, type GuestWorld } from '../../marketplace/runs/guest-world.ts'
import { usdcOf } from '../../facilitator/world.ts'

describe('POST /rda/{slug}/run → 200', () => {
  let world: GuestWorld
  beforeAll(async () => {
    world = await guestWorld({ PLATFORM_FEE_BPS: '1000' })
  })
  afterAll(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    await world.close()
  })

  test.each([1, 2] as const)(
    'a prompt, paid by version %i: the output, the receipt, and the creator’s share',
    async (version) => {
      const slug = await world.prompt({ slug: `guest-prompt-${String(version)}` })
      const payer = await world.chain.payer(1_000_000n)
      const before = await world.wallet(world.creator)
      const answer = await world.runAsGuest(slug, { say: 'hello' }, await world.payFor(slug, payer, { version }))
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        success: true,
        runId: expect.stringMatching(/^run_/),
        output: echoed('hello'),
        cost: 0.02,
        duration: expect.any(Number),
        modelId: 'sandbox/echo',
        usage: {
          prompt_tokens: expect.any(Number),
          completion_tokens: expect.any(Number),
          total_tokens: expect.any(Number),
        },
        txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: 'base-sepolia',
        payer: payer.address.toLowerCase(),
        paymentToken: expect.stringMatching(/^tok_/),
      })
      expect(answer.headers.get('x-payment-id')).toMatch(/^pay_/)
      expect(answer.headers.get(version === 1 ? 'x-payment-response' : 'payment-response')).not.toBeNull()
      expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
      expect((await world.wallet(world.creator)).balance).toBeCloseTo(before.balance + 0.018, 6)
      const runs = await world.creator.call('GET', `/v1/rda/${slug}/runs`)
      expect(runs.body).toMatchObject({ total: 1, runs: [{ id: answer.body.runId, status: 'succeeded', cost: 0.02 }] })
    },
  )

  test('an agent is called once for a repeated payment, and the buyer has one receipt', async () => {
    let requests = 0
    world.server.on('/agent', () => ({ body: { status: 'completed', output: `asked ${String(++requests)}` } }))
    const slug = await world.agent(
      {},
      { slug: 'guest-agent', inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }] },
    )
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.payFor(slug, payer)
    const [first, second] = await Promise.all([
      world.runAsGuest(slug, undefined, payment),
      world.runAsGuest(slug, undefined, payment),
    ])
    const paid = first.status === 200 ? first : second
    expect([paid.status, paid.body.output]).toEqual([200, 'asked 1'])
    expect([200, 409]).toContain((paid === first ? second : first).status)
    const thief = await world.runAsGuest(slug, undefined, payment)
    expect([thief.status, thief.body.code, thief.body.output]).toEqual([409, 'payment_submitted', undefined])
    expect([requests, await usdcOf(world.chain, payer.address)]).toEqual([1, 750_000n])

    const id = paid.headers.get('x-payment-id')!
    const url = `/receipts/${id}?token=${String(paid.body.paymentToken)}`
    const receipt = await world.service.call('GET', url, { headers: { accept: 'application/json' } })
    expect(receipt.body).toMatchObject({ receipt: { id, product: 'asset', name: slug, status: 'paid', amount: 0.25 } })
    expect(
      (await world.service.call('GET', `/receipts/${id}`, { headers: { accept: 'application/json' } })).status,
    ).toBe(404)
  })

  test('a run that fails costs nothing, and the same payment runs it again; then it is charged once', async () => {
    let well = false
    world.server.on('/flaky', () =>
      well ? { body: { status: 'completed', output: 'well' } } : { body: { status: 'failed', error: 'no' } },
    )
    const slug = await world.agent({ webhookUrl: world.server.url('/flaky') }, { slug: 'guest-flaky' })
    const inputs = { topic: 'bees' }
    const payer = await world.chain.payer(1_000_000n)
    const before = await world.wallet(world.creator)
    const payment = await world.payFor(slug, payer, { inputs })
    const failed = await world.runAsGuest(slug, inputs, payment)
    expect([failed.status, failed.body.code, failed.body.paid]).toEqual([500, 'agent_failed', undefined])
    expect(failed.body.error).toMatch(/Nothing was charged\.$/)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    const other = await world.runAsGuest(slug, { topic: 'wasps' }, payment)
    expect([other.status, other.body.code]).toEqual([409, 'authorization_used'])
    well = true
    const done = await world.runAsGuest(slug, inputs, payment)
    expect([done.status, done.body.output, done.body.cost]).toEqual([200, 'well', 0.25])
    expect((await world.wallet(world.creator)).balance).toBeCloseTo(before.balance + 0.225, 6)
    expect(await usdcOf(world.chain, payer.address)).toBe(750_000n)
    const runs = await world.creator.call('GET', `/v1/rda/${slug}/runs`)
    const ends = (runs.body.runs as { status: string; cost: number }[]).map(
      ({ status, cost }) => `${status} ${String(cost)}`,
    )
    expect(ends.sort()).toEqual(['failed 0', 'succeeded 0.25'])
  })

  test('a payer whose money is gone after the run gets no output, and the creator is not paid', async () => {
    const payer = await world.chain.payer(1_000_000n)
    world.server.on('/gone', async () => {
      await world.chain.fund(payer.address, 0n)
      return { body: { status: 'completed', output: 'secret' } }
    })
    const slug = await world.agent({ webhookUrl: world.server.url('/gone') }, { slug: 'guest-gone' })
    const inputs = { topic: 'bees' }
    const before = await world.wallet(world.creator)
    const answer = await world.runAsGuest(slug, inputs, await world.payFor(slug, payer, { inputs }))
    expect([answer.status, answer.body.reason]).toEqual([402, 'invalid_exact_evm_insufficient_balance'])
    expect(answer.text).not.toContain('secret')
    expect((await world.wallet(world.creator)).balance).toBe(before.balance)
    const runs = await world.creator.call('GET', `/v1/rda/${slug}/runs`)
    expect(runs.body.runs).toMatchObject([{ status: 'succeeded', cost: 0 }])
    // Nobody works first for this wallet any more, also where it has money again.
    await world.chain.fund(payer.address, 1_000_000n)
    const banned = await world.runAsGuest(slug, inputs, await world.payFor(slug, payer, { inputs }))
    expect([banned.status, banned.body.code]).toEqual([403, 'payer_defaulted'])
    expect((await world.creator.call('GET', `/v1/rda/${slug}/runs`)).body.total).toBe(1)
  })

  test('a price by use is paid at its most, and charged whole', async () => {
    const slug = await world.prompt({ slug: 'guest-metered', pricing: { model: 'per-token', amount: 0.5 } })
    const required = await world.runAsGuest(slug)
    const price = BigInt(required.body.accepts[0].maxAmountRequired as string)
    const payer = await world.chain.payer(100_000_000n)
    const answer = await world.runAsGuest(slug, undefined, await world.payFor(slug, payer))
    expect([answer.status, answer.body.cost]).toEqual([200, Number(price) / 1e6])
    expect(await usdcOf(world.chain, payer.address)).toBe(100_000_000n - price)
  })
})
