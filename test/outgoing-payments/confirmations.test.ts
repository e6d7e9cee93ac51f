import { randomBytes } from 'node:crypto'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { Seller } from './seller.ts'

describe('a paid call that a seller has settled', () => {
  let chain: TestChain
  let service: TestService
  let seller: Seller
  let person: TestPerson

  beforeAll(async () => {
    chain = await startChain()
    service = await testService({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      PAYER_SEED: randomBytes(32).toString('hex'),
      ALLOW_HOSTS: '127.0.0.1',
      SETTLE_CONFIRMATIONS: '3',
    })
    service.facilitator.start()
    const facilitator = () => `${service.origin}/facilitator`
    const now = () => service.clock.now()
    seller = await new Seller(chain.network, chain.accounts[3]!.address, facilitator, now).listen()
    await chain.fund(service.wallets.treasury()!, 1_000_000_000n)
    await chain.mine()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 20 } })
  })
  afterAll(async () => {
    await seller.close()
    await service.close()
    await chain.stop()
  })

  test('is captured at the required confirmation, and not one block earlier', async () => {
    const { body } = await person.call('POST', '/v1/pay', { body: { url: seller.url('/v2/500'), maxAmount: 1 } })
    await seller.settle('/v2/500')
    const seen: unknown[] = []
    for (let confirmations = 1; confirmations <= 3; confirmations++) {
      if (confirmations > 1) await chain.mine(1)
      // The newest block is cached for a second, and a payment is looked at every five.
      service.clock.forward(6_000)
      await service.outgoingPayments.reconcile()
      const { payment } = (await person.call('GET', `/v1/pay/${String(body.payment.id)}`)).body
      const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
      seen.push([payment.confirmed, wallet.totalLocked, wallet.totalSpent])
    }
    expect(seen).toEqual([
      [false, 0.25, 0],
      [false, 0.25, 0],
      [true, 0, 0.25],
    ])
    expect(await service.ledger.differences()).toEqual([])
  })
})
