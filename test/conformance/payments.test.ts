import { openWorld, sentBy, usdcOf, type World } from '../facilitator/world.ts'
import { startBuyer, startSeller, type Buyer, type Seller, type Version } from './stock.ts'

describe.each([8453, 84532] as const)('on chain %i', (chainId) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { chainId } })
  })
  afterAll(() => world.close())

  describe.each([1, 2] as const)('a stock client of version %i pays a stock seller', (version: Version) => {
    let seller: Seller
    let buyer: Buyer
    beforeAll(async () => {
      const { name, caip2 } = world.chain.network
      seller = await startSeller(version, {
        facilitator: world.service.origin,
        network: version === 1 ? name : caip2,
        payTo: world.seller,
        price: '$0.01',
      })
      buyer = startBuyer(version)
    })
    afterAll(async () => {
      await buyer.stop()
      await seller.stop()
    })

    it('that answers 402 first', async () => {
      const response = await fetch(`${seller.origin}/paid`)
      expect(response.status).toBe(402)
    })

    it('and gets the page for one payment in one transaction; the same payment again gets neither', async () => {
      const { chain, payer } = world
      const before = await look()
      const purchase = await buyer.buy({ url: `${seller.origin}/paid`, privateKey: payer.privateKey })
      expect(purchase).toMatchObject({ status: 200, body: { page: 'worth it' } })
      expect(purchase.receipt).toMatchObject({
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: version === 1 ? chain.network.name : chain.network.caip2,
        payer: expect.stringMatching(new RegExp(`^${payer.address}$`, 'i')),
      })
      const paid = {
        seller: before.seller + 10_000n,
        payer: before.payer - 10_000n,
        transactions: before.transactions + 1,
      }
      expect(await look()).toEqual(paid)
      const receipt = await chain.call('eth_getTransactionReceipt', purchase.receipt!.transaction)
      expect(receipt).toMatchObject({ status: '0x1', from: chain.accounts[0]!.address })

      const { name, value } = purchase.header
      const again = await fetch(`${seller.origin}/paid`, { headers: { [name]: value } })
      expect(again.status).toBe(402)
      expect(await again.text()).not.toContain('worth it')
      expect(await look()).toEqual(paid)
    })

    it('that serves nothing to a client without enough money', async () => {
      const poor = await world.chain.payer(9_999n)
      const before = await look()
      const purchase = await buyer.buy({ url: `${seller.origin}/paid`, privateKey: poor.privateKey })
      expect(purchase.status).toBe(402)
      expect(await look()).toEqual(before)
    })
  })

  async function look() {
    const { chain, payer } = world
    return {
      seller: await usdcOf(chain, world.seller),
      payer: await usdcOf(chain, payer.address),
      transactions: await sentBy(chain, chain.accounts[0]!.address),
    }
  }
})
