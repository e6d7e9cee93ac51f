import { randomUUID } from 'node:crypto'
import type { Hex } from '../../../service/chain/model.ts'
import type { PaymentAddressView } from '../../../service/payment-addresses/service/addresses.ts'
import { openWorld, until, type World } from '../../checkouts/world.ts'
import { transfer, walletKeys } from '../../wallet/world.ts'

/** A buyer whose payments come from another address each time, because each order has one of its own. */
describe('a buyer who pays by plain transfers and asks for the money of each order', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: await walletKeys() })
    await world.chain.mine(10)
    await world.seller.call('POST', '/v1/wallet/deposit', { body: { amount: 50 } })
    await world.seller.call('PATCH', '/v1/refund-policy', { body: { agents: 'automatic' } })
  })
  afterAll(() => world.close())

  async function order(wallet: Hex, id: string): Promise<{ id: string; token: string }> {
    const created = await world.call('POST', `/p/${id}/addresses`, { body: {} })
    const { address, token } = created.body as { address: PaymentAddressView; token: string }
    await transfer(world.chain, wallet, address.address.toLowerCase() as Hex, 1_000_000n)
    return await until(async () => {
      world.service.clock.forward(2_000)
      for (const { run } of world.service.paymentAddresses.sweepers) await run(new AbortController().signal)
      const path = `/p/${id}/addresses/${address.id}`
      const view = await world.call('GET', path, { headers: { 'X-Payment-Token': token } })
      const { status, payment } = view.body.address as PaymentAddressView
      return status === 'paid' ? payment : null
    })
  }

  it('gets nothing back that the seller did not agree to', async () => {
    const { address } = await world.chain.payer(10_000_000n)
    for (let count = 0; count < 3; count++) {
      const { id, token } = await order(address, (await world.sell({})).id)
      const shown = async () =>
        (await world.seller.call('GET', `/v1/payments/${id}`)).body.payment as { txHash: string }
      const { txHash } = await shown()
      const answer = await world.call('POST', '/receipts/refunds', {
        body: {
          x402Version: 2,
          paymentReference: { txHash, network: world.chain.network.caip2 },
          ...{ amount: '1000000', reason: 'customer_request', idempotencyKey: randomUUID() },
        },
        headers: { 'x-payment-token': token },
      })
      expect(answer.body).toEqual({ status: 'pending', amount: '1000000' })
      expect(await shown()).toMatchObject({ refunded: 0, refunds: [] })
    }
  })

  it('is one customer in the record of a checkout, however often it buys', async () => {
    const { address } = await world.chain.payer(100_000_000n)
    const { id } = await world.sell({ lifetime: 'persistent' })
    for (let count = 0; count < 20; count++) await order(address, id)
    world.service.clock.forward(120_000)
    expect((await world.call('GET', `/p/${id}`)).body.trackRecord).toBeNull()
  })
})
