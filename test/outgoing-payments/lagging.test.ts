import { randomBytes } from 'node:crypto'
import { honest, lagging, startRelay, type Relay } from '../chain/relay.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import type { Wallet } from '../marketplace/runs/world.ts'
import { Seller } from './seller.ts'

/** Two nodes, of which the first one is an address with a node behind it that lags. */
describe('a paid call, while one of the nodes lags behind', () => {
  let chain: TestChain
  let relay: Relay
  let service: TestService
  let seller: Seller
  let person: TestPerson

  beforeAll(async () => {
    chain = await startChain()
    relay = await startRelay(chain.url)
    service = await testService({
      BASE_SEPOLIA_RPC_URLS: `${relay.url},${chain.url}`,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      PAYER_SEED: randomBytes(32).toString('hex'),
      ALLOW_HOSTS: '127.0.0.1',
      SETTLE_CONFIRMATIONS: '1',
    })
    service.facilitator.start()
    seller = await new Seller(
      chain.network,
      chain.accounts[3]!.address,
      () => `${service.origin}/facilitator`,
      () => service.clock.now(),
    ).listen()
    await chain.fund(service.wallets.treasury()!, 1_000_000_000n)
    await chain.mine()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 20 } })
  })
  afterAll(async () => {
    await seller.close()
    await service.close()
    await relay.stop()
    await chain.stop()
  })
  afterEach(() => {
    relay.behave(honest)
  })

  const wallet = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet as Wallet
  const payment = async (id: string) => (await person.call('GET', `/v1/pay/${id}`)).body.payment
  /** A seller that fails, and has the signature. */
  const pay = async (path: string) => {
    const { body } = await person.call('POST', '/v1/pay', { body: { url: seller.url(path), maxAmount: 1 } })
    expect(body.payment.status).toBe('pending')
    return body.payment as { id: string; payer: `0x${string}` }
  }
  const newest = async () => BigInt((await chain.call('eth_blockNumber')) as string)

  async function expire(seconds: number): Promise<void> {
    service.clock.forward(seconds * 1_000)
    await chain.call('evm_setNextBlockTimestamp', Math.floor(service.clock.now().getTime() / 1_000))
    await chain.mine(2)
    // The newest block is cached for a second.
    service.clock.forward(2_000)
    await service.outgoingPayments.reconcile()
  }

  test('keeps the hold of a seller who was paid', async () => {
    const { id } = await pay('/v2/500')
    await seller.settle('/v2/500')
    const before = await wallet()
    relay.behave(lagging((await newest()) - 1n, ['eth_getBlockByNumber']))
    await expire(450)
    expect(await payment(id)).toMatchObject({ status: 'pending' })
    expect(await wallet()).toEqual(before)
    relay.behave(honest)
    await expire(10)
    expect(await payment(id)).toMatchObject({ status: 'settled' })
    expect((await wallet()).totalSpent).toBeCloseTo(before.totalSpent + 0.25, 6)
    expect(await service.ledger.differences()).toEqual([])
  })

  test('counts what was sent to the payer as spare once the nodes agree that it arrived', async () => {
    const before = await newest()
    const { id, payer } = await pay('/v1/500')
    relay.behave(lagging(before, ['eth_getBlockByNumber']))
    await expire(450)
    expect(await payment(id)).toMatchObject({ status: 'pending' })
    relay.behave(honest)
    await expire(10)
    expect(await payment(id)).toMatchObject({ status: 'returned', reason: 'expired' })
    const spare = await service.database.statements.run('SELECT spare FROM spending_payer WHERE address = $1', [payer])
    expect(spare).toEqual([{ spare: await usdcOf(chain, payer) }])
  })
})
