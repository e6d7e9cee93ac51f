import { startChain, type TestChain } from '../harness/chain.ts'
import { testService, type TestService } from '../harness/service.ts'
import { startMppSeller, type Seller } from './stock.ts'

/** POST /pay as the buyer from a stock seller of MPP, with a realm that takes more than one block of keccak. */
describe('paying a stock seller of MPP', () => {
  let chain: TestChain
  let service: TestService
  let seller: Seller

  beforeAll(async () => {
    chain = await startChain()
    service = await testService({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      PAYER_SEED: '5e'.repeat(32),
      ALLOW_HOSTS: '127.0.0.1',
      SETTLE_CONFIRMATIONS: '1',
    })
    service.facilitator.start()
    await chain.fund(service.wallets.treasury()!, 1_000_000_000n)
    await chain.mine()
    seller = await startMppSeller({
      facilitator: `${service.origin}/facilitator`,
      network: chain.network,
      payTo: chain.accounts[3]!.address,
      price: '0.25',
    })
  })
  afterAll(async () => {
    await seller.stop()
    await service.close()
    await chain.stop()
  })

  test('pays once, and stores the receipt', async () => {
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const { status, body } = await person.call('POST', '/v1/pay', {
      body: { url: `${seller.origin}/paid`, maxAmount: 1 },
    })
    expect([status, body.response.status, body.response.body]).toEqual([200, 200, '{"page":"worth it"}'])
    const { txHash } = body.payment
    expect(body.payment).toMatchObject({
      protocol: 'mpp',
      status: 'settled',
      amount: 0.25,
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      receipt: { method: 'evm', status: 'success', reference: txHash },
    })
  })
})
