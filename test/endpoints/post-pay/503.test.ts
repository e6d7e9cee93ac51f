import { randomBytes } from 'node:crypto'
import { startChain, type TestChain } from '../../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { Seller } from '../../outgoing-payments/seller.ts'
import { walletKeys } from '../../wallet/world.ts'

/** A server that cannot pay says what its operator must set, and sets nothing aside. */
describe('POST /v1/pay, 503', () => {
  let chain: TestChain
  let seller: Seller

  beforeAll(async () => {
    chain = await startChain()
    seller = await new Seller(chain.network, chain.accounts[3]!.address, () => '').listen()
  })
  afterAll(async () => {
    await seller.close()
    await chain.stop()
  })

  async function refused(environment: Record<string, string>, before?: (service: TestService) => Promise<void>) {
    const service = await testService({ ALLOW_HOSTS: '127.0.0.1', RATE_API_PER_MINUTE: '0', ...environment })
    try {
      await before?.(service)
      const person: TestPerson = await service.person()
      await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
      const { status, body, headers } = await person.call('POST', '/v1/pay', {
        body: { url: seller.url('/v2/honest'), maxAmount: 1 },
      })
      const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
      expect(wallet).toMatchObject({ availableBalance: 5, totalLocked: 0, pendingLocks: {} })
      expect(seller.payments.get('/v2/honest')).toBeUndefined()
      expect(headers.get('retry-after')).toBe('5')
      expect([status, body.code]).toEqual([503, 'payer_unavailable'])
      return body.error as string
    } finally {
      await service.close()
    }
  }

  const rpc = () => ({ BASE_SEPOLIA_RPC_URLS: chain.url })
  const sponsor = () => ({ SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey })

  test('without an RPC', async () => {
    expect(await refused({})).toBe('This server has no RPC for base-sepolia: BASE_SEPOLIA_RPC_URLS must be set.')
  })

  test('without a sponsor that pays for gas', async () => {
    expect(await refused(rpc())).toBe('No sponsor pays for gas on base-sepolia: SPONSOR_PRIVATE_KEYS must be set.')
  })

  test('with a treasury whose key is not here', async () => {
    const { WALLET_XPUB } = await walletKeys()
    expect(await refused({ ...rpc(), ...sponsor(), WALLET_XPUB })).toBe(
      'This worker cannot sign for the treasury: WALLET_XPRV must be set.',
    )
  })

  test('on a live server without a seed, or without a treasury', async () => {
    const live = {
      ...rpc(),
      ...sponsor(),
      LIVE: 'true',
      AUTH_SECRET: 'a'.repeat(40),
      VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    }
    expect(await refused(live)).toBe(
      'This server has no treasury to pay from: WALLET_XPUB and WALLET_XPRV must be set.',
    )
    expect(await refused({ ...live, ...(await walletKeys()) })).toBe(
      'This server has no key to pay with: PAYER_SEED must be set.',
    )
  })

  test('with too little in the treasury', async () => {
    const short = async (service: TestService) => {
      await chain.fund(service.wallets.treasury()!, 249_999n)
      await chain.mine()
    }
    expect(await refused({ ...rpc(), ...sponsor() }, short)).toBe(
      'The treasury of this server has too little USDC on base-sepolia.',
    )
  })
})
