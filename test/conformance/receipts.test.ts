import { openWorld as openCheckouts } from '../checkouts/world.ts'
import type { TestChain } from '../harness/chain.ts'
import { guestWorld } from '../marketplace/runs/guest-world.ts'
import { openWorld as openGates } from '../paywall/world.ts'
import { payWorld } from '../tools/calls/pay-world.ts'
import { startBuyer, type Buyer } from './stock.ts'

interface Shop {
  origin: string
  chain: TestChain
  url: string
  request: RequestInit
  close(): Promise<void>
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Everything that is sold for a payment on a chain. */
const SHOPS: Readonly<Record<string, () => Promise<Shop>>> = {
  async tool() {
    const world = await payWorld()
    world.upstream.respondWith('/notes', { id: 3 }, 201)
    const { origin } = world.service
    return { ...world, origin, url: `${origin}/tools/acme-create-note`, request: post({ title: 'Paid' }) }
  },
  async checkout() {
    const world = await openCheckouts({ chain: true })
    const { id } = await world.sell({ price: 0.05 })
    const { origin } = world.service
    return { chain: world.chain, close: world.close, origin, url: `${origin}/p/${id}`, request: post({}) }
  },
  async asset() {
    const world = await guestWorld()
    const slug = await world.prompt({ slug: 'signed-prompt' })
    const { origin } = world.service
    return { ...world, origin, url: `${origin}/v1/rda/${slug}/run`, request: post({ inputs: { say: 'bought' } }) }
  },
  async gate() {
    const world = await openGates({ chain: true })
    const { gate } = await world.sell([{ path: '/data', pricing: { model: 'per-request', amount: 0.05 } }])
    return {
      chain: world.chain,
      close: world.close,
      origin: world.service.origin,
      url: `${gate}/data?a=1`,
      request: {},
    }
  },
}

/** The stock verifiers of the extension `offer-receipt`, after a stock client has paid. */
describe.each(Object.keys(SHOPS))('a paid %s', (name) => {
  let shop: Shop
  let buyer: Buyer
  beforeAll(async () => {
    shop = await SHOPS[name]!()
    buyer = startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await shop.close()
  })

  it('has signed offers and a signed receipt, which verify and belong together', async () => {
    const { chain, url, request, origin } = shop
    const unpaid = await fetch(url, request)
    expect(unpaid.status).toBe(402)
    const header = unpaid.headers.get('payment-required')!
    const required = JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: { payTo: string }[] }

    const payer = await chain.payer(1_000_000n)
    // The client returns the offers with its payment.
    const purchase = await buyer.buy({ url, privateKey: payer.privateKey, request })
    expect(purchase).toMatchObject({ status: 200, receipt: { success: true } })
    const { receipt } = purchase.receipt!.extensions!['offer-receipt']!.info
    const { 'x-payment-id': id = '' } = purchase.proof!
    const stored = (await (await fetch(`${origin}/receipts/${id}`, { headers: purchase.proof! })).json()) as {
      signed: { jws: unknown; eip712: unknown }
    }
    expect(stored.signed.jws).toEqual(receipt)
    const document = (await (await fetch(`${origin}/.well-known/did.json`)).json()) as {
      verificationMethod: { blockchainAccountId?: string }[]
    }
    const addresses = document.verificationMethod.map(({ blockchainAccountId }) => blockchainAccountId)

    const evidence = { required, receipt, typed: stored.signed.eip712, payer: payer.address, document }
    const { offers, receipts, matches } = await buyer.verify(evidence)
    expect([offers.accepted, matches]).toEqual([
      [true, true],
      [true, true],
    ])
    expect(offers.json).toEqual(offers.typed.payload)
    expect(receipts.json).toEqual(receipts.typed.payload)
    expect(receipts.json).toMatchObject({
      version: 1,
      network: chain.network.caip2,
      payer: payer.address.toLowerCase(),
      transaction: purchase.receipt!.transaction,
    })
    for (const { signer } of [offers.typed, receipts.typed]) {
      expect(addresses).toContain(`eip155:1:${signer.toLowerCase()}`)
    }
  })
})
