import { guestWorld, type GuestWorld } from '../../marketplace/runs/guest-world.ts'
import { runWorld } from '../../marketplace/runs/world.ts'
import { usdcOf } from '../../facilitator/world.ts'

describe('POST /rda/{slug}/run → 400, 402, 404, 409, 410, 503', () => {
  let world: GuestWorld
  let slug: string
  beforeAll(async () => {
    world = await guestWorld()
    slug = await world.prompt({ slug: 'guest-paid' })
  })
  afterAll(() => world.close())

  test('402 with the terms in both versions', async () => {
    const answer = await world.runAsGuest(slug)
    const treasury = world.service.wallets.treasury()
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({
      x402Version: 1,
      code: 'payment_required',
      amount: '0.02',
      recipient: treasury,
      accepts: [
        {
          network: 'base-sepolia',
          maxAmountRequired: '20000',
          resource: expect.stringMatching(/\/v1\/rda\/guest-paid\/run$/),
          outputSchema: {
            input: { method: 'POST', bodyFields: { inputs: { properties: { say: { type: 'string' } } } } },
          },
        },
      ],
    })
    const v2 = JSON.parse(Buffer.from(answer.headers.get('payment-required')!, 'base64').toString())
    expect(v2).toMatchObject({ x402Version: 2, accepts: [{ network: 'eip155:84532', amount: '20000' }] })
  })

  test('a wrong input answers 400 before any payment; drafts and free assets are not for sale', async () => {
    const wrong = await world.runAsGuest(slug, { shout: 'x' })
    expect([wrong.status, Object.keys(wrong.body.details as object).sort()]).toEqual([400, ['say', 'shout']])
    expect((await world.runAsGuest('no-such-asset')).status).toBe(404)
    const created = await world.creator.call('POST', '/v1/rda', { body: DRAFT })
    expect(created.status).toBe(201)
    expect((await world.runAsGuest('guest-draft')).status).toBe(404)
    const free = await world.prompt({ slug: 'guest-free', pricing: { model: 'free' } })
    expect(await world.runAsGuest(free)).toMatchObject({ status: 400, body: { code: 'needs_key' } })
  })

  test('402 or 410 for too little, too late or misdirected payments, and nothing runs', async () => {
    const poor = await world.chain.payer(19_999n)
    const refused = await world.runAsGuest(slug, undefined, await world.payFor(slug, poor))
    expect(refused).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    const payer = await world.chain.payer(1_000_000n)
    const pay = async (terms: Record<string, unknown>) =>
      await world.runAsGuest(slug, undefined, await world.payFor(slug, payer, { terms }))
    expect((await pay({ value: 19_999n })).status).toBe(402)
    expect((await pay({ to: payer.address })).status).toBe(402)
    expect((await pay({ validBefore: 1n })).status).toBe(410)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    const [row] = await world.service.database.statements.run<{ runs: bigint }>('SELECT count(*) AS runs FROM run', [])
    expect(row!.runs).toBe(0n)
  })

  test('409 for one authorization used for another asset or another input', async () => {
    const other = await world.prompt({ slug: 'guest-other' })
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.payFor(slug, payer)
    expect((await world.runAsGuest(slug, { say: 'one' }, payment)).status).toBe(200)
    for (const [where, say] of [
      [other, 'one'],
      [slug, 'two'],
    ] as const) {
      const again = await world.runAsGuest(where, { say }, payment)
      expect([again.status, again.body.output]).toEqual([409, undefined])
    }
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
  })

  test('without a treasury nothing is sold without a key', async () => {
    const without = await runWorld()
    try {
      await without.prompt({ slug: 'guest-none' })
      const answer = await without.service.call('POST', '/v1/rda/guest-none/run', { body: { inputs: { say: 'x' } } })
      expect([answer.status, answer.body.code]).toEqual([503, 'payments_unavailable'])
    } finally {
      await without.close()
    }
  })
})

const DRAFT = {
  slug: 'guest-draft',
  type: 'prompt',
  name: 'Draft',
  description: 'Not yet',
  inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
  promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'] },
  pricing: { model: 'per-run', amount: 0.02 },
}
