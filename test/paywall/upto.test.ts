import type { TestAccount } from '../harness/chain.ts'
import { approval, payUpto, sendAs, type UptoTerms } from '../harness/upto.ts'
import { usdcOf } from '../facilitator/world.ts'
import { json } from './upstream.ts'
import { encoded } from '../harness/wallet.ts'
import { openWorld, until, type Answer, type World } from './world.ts'

const CHAT = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }
const USED = 5_000n
const POST = { method: 'POST', body: '{}' }

/** The buyer permits the maximum, and what the call has used is taken. */
describe('a measured route that is paid by use', () => {
  let world: World
  let fails: boolean
  let breaks: string | null = null
  const answer = (response: Parameters<typeof json>[0]) => {
    if (fails) json(response, 500, {})
    else json(response, 200, { text: 'hello', usage: { input_tokens: 1_000, output_tokens: 2_000 } })
  }
  beforeAll(async () => {
    const failpoints = {
      async reach(place: string) {
        if (place !== breaks) return
        breaks = null
        throw new Error(`the process ends at "${place}"`)
      },
    }
    world = await openWorld({ chain: true, failpoints })
  })
  beforeEach(() => {
    fails = false
    world.upstream.on('/chat', (_request, response) => {
      answer(response)
    })
  })
  afterAll(() => world.close())

  const sell = (pricing: Record<string, unknown> = CHAT, more: object = {}) =>
    world.sell([{ method: 'POST', path: '/chat', pricing, ...more }])
  const acceptedBy = ({ headers }: Answer) =>
    JSON.parse(Buffer.from(headers.get('payment-required')!, 'base64').toString()) as {
      accepts: (UptoTerms & { scheme: string })[]
      extensions: Record<string, { info: { offers: { acceptIndex: number }[] } }>
    }
  const termsOf = async (gate: string) => {
    const terms = acceptedBy(await world.request(`${gate}/chat`, POST)).accepts.find(({ scheme }) => scheme === 'upto')
    if (terms === undefined) throw new Error('the route is not sold by use')
    return terms
  }
  async function permitted(payer: TestAccount, gate: string, signing: Parameters<typeof payUpto>[3] = {}) {
    const { body } = await payUpto(world.chain, payer, await termsOf(gate), signing)
    const header = { 'payment-signature': encoded(body.paymentPayload) }
    return {
      header,
      ask: (more: object = {}) => world.request(`${gate}/chat`, { ...POST, headers: { ...header, ...more } }),
    }
  }
  const run = <Row extends object>(text: string, ...values: unknown[]) =>
    world.service.database.statements.run<Row>(text, values)
  const saleOf = async (payer: string) => {
    const [sale] = await run<{ state: string; amount: bigint; method: string; reason: string | null }>(
      'SELECT state::text, amount, method::text, reason FROM sale WHERE payer = $1',
      payer.toLowerCase(),
    )
    return sale
  }
  const balanceOf = async (payer: string) => {
    const text = 'SELECT available, drawn FROM paywall_balance WHERE payer = $1'
    return (await run<{ available: bigint; drawn: bigint }>(text, payer.toLowerCase()))[0]
  }
  const receiptIn = ({ headers }: Answer) =>
    JSON.parse(Buffer.from(headers.get('payment-response')!, 'base64').toString()) as object

  it('is offered beside the whole amount, which comes first, with the facilitator that takes what is used', async () => {
    const { gate } = await sell()
    const { accepts, extensions } = acceptedBy(await world.request(`${gate}/chat`, POST))
    expect(accepts.map(({ scheme, amount }) => [scheme, amount])).toEqual([
      ['exact', '20000'],
      ['upto', '20000'],
    ])
    expect(accepts[1]!.extra).toMatchObject({
      assetTransferMethod: 'permit2',
      facilitatorAddress: world.chain.accounts[0]!.address,
    })
    expect(extensions).toHaveProperty('eip2612GasSponsoring')
    const signed = extensions['offer-receipt']!.info.offers.map(({ acceptIndex }) => acceptIndex)
    expect([...new Set(signed)]).toEqual([0, 1])
  })

  it.each<[string, Record<string, unknown>, object]>([
    ['has one price', { model: 'per-request', amount: 0.01 }, {}],
    ['is paid before', CHAT, { settle: 'before' }],
    ['may cost less than can be settled', { ...CHAT, minimum: 0 }, {}],
  ])('is not offered where a route %s', async (_, pricing, more) => {
    const { gate } = await sell(pricing, more)
    const { accepts, extensions } = acceptedBy(await world.request(`${gate}/chat`, POST))
    expect(accepts.map(({ scheme }) => scheme)).toEqual(['exact'])
    expect(extensions).not.toHaveProperty('eip2612GasSponsoring')
  })

  it('takes what was used, and the sale, its receipt and its revenue say that amount', async () => {
    const { gate, id } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const before = await usdcOf(world.chain, world.recipient)
    const answer = await (await permitted(payer, gate)).ask()
    expect(answer).toMatchObject({ status: 200, body: { text: 'hello' } })
    expect(answer.headers.get('x-payment-cost')).toBe('0.005')
    expect(receiptIn(answer)).toMatchObject({ success: true, amount: String(USED) })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - USED)
    expect((await usdcOf(world.chain, world.recipient)) - before).toBe(USED)
    expect(await saleOf(payer.address)).toMatchObject({ state: 'paid', amount: USED, method: 'upto' })
    expect(await balanceOf(payer.address)).toBeUndefined()
    const { body } = await world.seller.call('GET', `/v1/paywalls/${id}/payments`)
    expect(body.payments).toEqual([expect.objectContaining({ amount: 0.005, kind: 'request' })])
    const [{ revenue } = { revenue: 0n }] = await run<{ revenue: bigint }>(
      'SELECT revenue FROM paywall WHERE id = $1',
      id,
    )
    expect(revenue).toBe(USED)
  })

  it('takes nothing for a failed answer, and the same permit may ask again', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const { ask } = await permitted(payer, gate)
    fails = true
    expect((await ask()).status).toBe(500)
    fails = false
    expect((await ask()).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - USED)
  })

  it('serves one of many who present the same permit, and takes once', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const { ask } = await permitted(payer, gate)
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => ask()))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - USED)
  })

  it('takes what was used after the process ended before the chain was asked', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const { ask } = await permitted(payer, gate)
    breaks = 'sale settling'
    expect((await ask()).status).toBe(500)
    expect(await saleOf(payer.address)).toMatchObject({ state: 'settling', amount: USED })
    await until(async () => {
      await world.sweep()
      return (await saleOf(payer.address))?.state === 'paid'
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - USED)
  })

  it('gives no answer whose payer has taken the money away meanwhile', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    await sendAs(world.chain, payer.address, approval(world.chain))
    const { ask } = await permitted(payer, gate, { sponsored: false })
    world.upstream.on('/chat', (_request, response) => {
      void world.chain.fund(payer.address, 0n).then(() => {
        answer(response)
      })
    })
    expect(await ask()).toMatchObject({ status: 402, body: { reason: 'permit2_insufficient_balance' } })
    expect(await saleOf(payer.address)).toMatchObject({ state: 'failed', reason: 'permit2_insufficient_balance' })
  })

  it('keeps the answer for the buyer who lost it, and takes nothing for it again', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const { ask } = await permitted(payer, gate)
    const token = `tok_${'a'.repeat(43)}`
    breaks = 'sale paid'
    expect((await ask({ 'x-payment-token': token })).status).toBe(503)
    expect((await ask()).status).toBe(409)
    expect(await ask({ 'x-payment-token': token })).toMatchObject({ status: 200, body: { text: 'hello' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - USED)
  })

  it('pays the maximum into a balance where the use is known too late: of a stream, and of a wallet with code', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.on('/chat', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"usage":{"input_tokens":1000,"output_tokens":2000}}\n\n')
    })
    const streamed = await (await permitted(payer, gate)).ask()
    expect(streamed.status).toBe(200)
    await until(async () => (await balanceOf(payer.address))?.drawn === USED)
    expect(await balanceOf(payer.address)).toEqual({ available: 15_000n, drawn: USED })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)

    world.upstream.on('/chat', (_request, response) => {
      answer(response)
    })
    const owner = await world.chain.payer(0n)
    const wallet = await world.chain.wallet('owned', { owner: owner.address, usdc: 1_000_000n })
    await sendAs(world.chain, wallet, approval(world.chain))
    const paid = await (await permitted(owner, gate, { from: wallet, sponsored: false })).ask()
    expect([paid.status, paid.headers.get('x-payment-balance')]).toEqual([200, '0.015'])
    expect(await usdcOf(world.chain, wallet)).toBe(980_000n)
  })

  it('draws from the balance of a payer who has enough, and takes of the permit where it is not', async () => {
    const { gate } = await sell()
    const payer = await world.chain.payer(1_000_000n)
    const whole = await world.pay(payer, `${gate}/chat`, POST)
    expect(whole.headers.get('x-payment-balance')).toBe('0.015')
    const byUse = await (await permitted(payer, gate)).ask()
    expect(receiptIn(byUse)).toMatchObject({ amount: String(USED) })
    expect(byUse.headers.get('x-payment-balance')).toBe('0.015')
    expect((await world.pay(payer, `${gate}/chat`, POST)).headers.get('x-payment-balance')).toBe('0.03')
    const { ask } = await permitted(payer, gate)
    const drawn = await ask()
    expect([drawn.status, drawn.headers.get('x-payment-balance')]).toEqual([200, '0.025'])
    expect((await ask()).status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - 40_000n - USED)
  })

  it('refuses a permit for less, for another seller, of another kind, and where the price is fixed', async () => {
    const { gate } = await sell()
    const fixed = await sell({ model: 'per-request', amount: 0.02 })
    const payer = await world.chain.payer(1_000_000n)
    const terms = await termsOf(gate)
    const refusalOf = async (at: string, signing: Parameters<typeof payUpto>[3], accepted: object = {}) => {
      const { body } = await payUpto(world.chain, payer, terms, signing)
      const paymentPayload = { ...body.paymentPayload, accepted: { ...terms, ...accepted } }
      const header = { 'payment-signature': encoded(paymentPayload) }
      const refused = await world.request(`${at}/chat`, { ...POST, headers: header })
      return [refused.status, refused.body.reason as string]
    }
    expect(await refusalOf(gate, { amount: 19_999n })).toEqual([402, 'permit2_amount_mismatch'])
    expect(await refusalOf(gate, { to: payer.address })).toEqual([402, 'invalid_permit2_recipient_mismatch'])
    expect(await refusalOf(gate, { facilitator: payer.address })).toEqual([402, 'upto_facilitator_mismatch'])
    expect(await refusalOf(gate, {}, { scheme: 'exact' })).toEqual([402, 'invalid_upto_evm_scheme'])
    expect(await refusalOf(fixed.gate, {})).toEqual([402, 'invalid_exact_evm_scheme'])
    expect(await refusalOf(fixed.gate, {}, { scheme: 'exact' })).toEqual([402, 'unsupported_payload_type'])
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })
})
