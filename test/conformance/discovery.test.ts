import { openWorld, type World } from '../facilitator/world.ts'
import { bazaarOf } from '../../service/x402/bazaar.ts'
import { startBuyer, startSeller, type Buyer, type Seller } from './stock.ts'

/** The stock packages: their seller declares what it sells, their buyer pays, and their `withBazaar` finds it here. */
describe('a stock seller that declares its resource', () => {
  let world: World
  let seller: Seller
  let buyer: Buyer
  beforeAll(async () => {
    world = await openWorld({ chain: { chainId: 84532 }, environment: { ALLOW_HOSTS: '127.0.0.1' } })
    const { caip2: network } = world.chain.network
    const shop = { facilitator: world.service.origin, network, payTo: world.seller, price: '$0.01' }
    seller = await startSeller(2, shop)
    buyer = startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await seller.stop()
    await world.close()
  })

  it('is listed and found by the stock client once it was paid, with its own terms', async () => {
    const purchase = await buyer.buy({
      url: `${seller.origin}/cities/berlin?units=metric`,
      privateKey: world.payer.privateKey,
    })
    expect(purchase.status).toBe(200)
    const resource = `${seller.origin}/cities/:city`
    const { network } = world.chain
    const found = {
      resource,
      type: 'http',
      x402Version: 2,
      description: 'The weather of a city',
      accepts: [expect.objectContaining({ scheme: 'exact', network: network.caip2, amount: '10000' })],
    }
    const facilitator = world.service.origin
    await world.service.listingChecks.run(world.clock.now())
    expect(
      await buyer.discover({ facilitator, list: { type: 'http', network: network.caip2, limit: 10 } }),
    ).toMatchObject({
      x402Version: 2,
      items: [found],
      pagination: { limit: 10, offset: 0, total: 1 },
    })
    expect(await buyer.discover({ facilitator, search: { query: 'weather city', limit: 5 } })).toMatchObject({
      x402Version: 2,
      resources: [found],
    })
  })

  it('and our descriptions pass its validation', async () => {
    const fields = { email: { type: 'string', format: 'email', required: true }, note: { type: 'string' } }
    const described = [
      { input: { type: 'http', method: 'POST', bodyType: 'json', bodyFields: fields } },
      { input: { type: 'http', method: 'GET' }, routeTemplate: '/gate/weather/:city' },
      { input: { type: 'http', method: 'DELETE' } },
    ]
    for (const one of described) {
      expect(await buyer.describe({ bazaar: bazaarOf(one), url: 'https://a.example/gate/weather/berlin?x=1' })).toEqual(
        {
          fits: { valid: true },
          isSpecified: { valid: true },
          resource: `https://a.example/gate/weather/${'routeTemplate' in one ? ':city' : 'berlin'}`,
        },
      )
    }
  })
})
