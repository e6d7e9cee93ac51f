import type { Hex } from '../../service/chain/model.ts'
import type { CheckoutView, QuoteView } from '../../service/checkouts/views.ts'
import type { PaymentAddressView } from '../../service/payment-addresses/service/addresses.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { liveSettings } from '../harness/live.ts'
import { transfer, walletKeys } from '../wallet/world.ts'
import { openWorld, until, type World } from './world.ts'

/** Its seller tries it with test money first, and then sells for real money. */
describe('a checkout whose network was changed', () => {
  let world: World
  let base: TestChain
  beforeAll(async () => {
    base = await startChain({ chainId: 8453 })
    world = await openWorld({
      ...{ chain: true, person: 'production' },
      environment: { ...liveSettings(), ...(await walletKeys()), BASE_RPC_URLS: base.url, ALLOW_HOSTS: '127.0.0.1' },
    })
    await world.chain.mine(10)
  })
  afterAll(async () => {
    await world.close()
    await base.stop()
  })

  const change = async (id: string, body: object): Promise<void> => {
    expect((await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body })).status).toBe(200)
  }
  const runsOf = (id: string) => world.workflow.deliveries.filter(({ body }) => body.includes(id))

  it('sells nothing at a quote for the network before, however new it is', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(5_000_000n)
    const { quote } = (await world.call('GET', `/p/${id}`)).body as CheckoutView
    const pay = async (paymentPayload: unknown, token = `tok_${'n'.repeat(43)}`) =>
      await world.call('POST', `/p/${id}/pay`, { body: { input: {}, quoteId: quote.quoteId, paymentPayload, token } })
    const [first, second] = [await world.sign(payer, id), await world.sign(payer, id)]
    // Another price alone is no reason: the one that was shown is promised.
    await change(id, { price: 3 })
    const paid = await pay(first)
    expect([paid.status, paid.body.payment?.amount]).toEqual([200, 1])
    await change(id, { network: 'base' })
    const refused = await pay(second, `tok_${'m'.repeat(43)}`)
    expect([refused.status, refused.body.code]).toEqual([410, 'quote_expired'])
    expect(refused.body.error).not.toMatch(/ten minutes\./)
    expect(await usdcOf(world.chain, payer.address)).toBe(4_000_000n)
    // What was bought before is found all the same.
    const again = await pay(first)
    expect([again.status, again.body.payment?.id]).toEqual([200, paid.body.payment.id])
    await change(id, { network: 'base-sepolia' })
    expect((await pay(second, `tok_${'m'.repeat(43)}`)).status).toBe(200)
  })

  it('gives nothing for a whole code at a quote for the network before', async () => {
    const code = { code: 'WHOLE', percent: 100 }
    expect((await world.seller.call('POST', '/v1/coupons', { body: code })).status).toBe(201)
    const { id } = await world.sell({ coupons: true })
    const choice = { coupon: 'WHOLE' }
    const { quote } = (await world.call('POST', `/p/${id}/quote`, { body: { choice } })).body as QuoteView
    const take = async (token: string) => {
      const body = { input: {}, choice, quoteId: quote.quoteId, free: true, token: `tok_${token.repeat(43)}` }
      return await world.call('POST', `/p/${id}/pay`, { body })
    }
    await change(id, { network: 'base' })
    const refused = await take('w')
    expect([refused.status, refused.body.code]).toEqual([410, 'quote_expired'])
    await change(id, { network: 'base-sepolia' })
    expect((await take('w')).body.payment).toMatchObject({ status: 'paid', amount: 0 })
  })

  it('delivers an order whose address was given out before, at the network that was promised', async () => {
    const { id } = await world.sell()
    const created = await world.call('POST', `/p/${id}/addresses`, { body: {} })
    expect(created.status).toBe(201)
    const { address: of, token } = created.body as { address: PaymentAddressView; token: string }
    await change(id, { network: 'base', price: 3 })
    const buyer = (await world.chain.payer(5_000_000n)).address.toLowerCase() as Hex
    const before = await usdcOf(world.chain, world.recipient)
    await transfer(world.chain, buyer, of.address.toLowerCase() as Hex, 1_000_000n)
    const paid = await until(async () => {
      await world.settled()
      world.service.clock.forward(2_000)
      for (const { run } of world.service.paymentAddresses.sweepers) await run(new AbortController().signal)
      const path = `/p/${id}/addresses/${of.id}`
      const { body } = await world.call('GET', path, { headers: { 'X-Payment-Token': token } })
      const view = body.address as PaymentAddressView
      return ['waiting', 'paying', 'partly_paid'].includes(view.status) ? null : view
    })
    expect(paid).toMatchObject({ status: 'paid', network: 'base-sepolia', received: 1, left: 0 })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
    await until(() => runsOf(id)[0] ?? null)
    const { body } = await world.call('GET', `/p/${id}/payments/${paid.payment!.id}?token=${paid.payment!.token}`)
    expect(body.payment).toMatchObject({ status: 'paid', network: 'base-sepolia', amount: 1 })
    // A new order is paid with real money.
    const next = await world.call('POST', `/p/${id}/addresses`, { body: {} })
    expect(next.body.address).toMatchObject({ network: 'base', amount: 3 })
  })
})
