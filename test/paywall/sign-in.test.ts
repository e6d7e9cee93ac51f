import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { liveSettings } from '../harness/live.ts'
import { buy } from '../harness/wallet.ts'
import { refund, work } from '../refunds/sales.ts'
import { openWorld, until, type Answer, type World } from './world.ts'

interface Challenge {
  info: Record<'domain' | 'uri' | 'statement' | 'nonce' | 'issuedAt' | 'expirationTime', string> & { version: '1' }
  supportedChains: [{ chainId: string; type: string }]
}

/** What a wallet makes of the 402's challenge, with these changes in what it sends. */
async function signIn(
  by: TestAccount,
  unpaid: Answer,
  changes: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const required = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString())
  const { info, supportedChains } = required.extensions['sign-in-with-x'] as Challenge
  const account = privateKeyToAccount(by.privateKey)
  const message = createSiweMessage({
    ...info,
    address: account.address,
    chainId: Number(supportedChains[0].chainId.slice('eip155:'.length)),
    issuedAt: new Date(info.issuedAt),
    expirationTime: new Date(info.expirationTime),
  })
  const signature = await account.signMessage({ message })
  const proof = { ...info, ...supportedChains[0], address: account.address, signature, ...changes }
  return { 'sign-in-with-x': Buffer.from(JSON.stringify(proof)).toString('base64') }
}

describe('signing in instead of paying again', () => {
  let world: World
  let gate: string
  let payer: TestAccount
  const pricing = { model: 'per-request', amount: 0.05 }

  beforeAll(async () => {
    world = await openWorld({ chain: true })
    const paywall = await world.sell([
      { path: '/data/:id', pricing, signIn: { seconds: 3_600 } },
      { method: 'POST', path: '/data/:id', pricing, signIn: { seconds: 3_600 } },
      { path: '/plain', pricing },
    ])
    expect(paywall.paywall.routes[0].signIn).toEqual({ seconds: 3_600 })
    gate = paywall.gate
    payer = await world.chain.payer(1_000_000n)
    expect((await world.pay(payer, `${gate}/data/7`)).status).toBe(200)
  })
  afterAll(async () => {
    await world.close()
  })

  test('lets a wallet that has paid pass with any query, once per sign-in', async () => {
    const url = `${gate}/data/7?page=2`
    const headers = await signIn(payer, await world.request(url))
    const passed = await world.request(url, { headers })
    expect([passed.status, passed.headers.get('x-payment-id')]).toEqual([200, null])
    const replayed = await world.request(url, { headers })
    expect([replayed.status, replayed.body.reason]).toEqual([402, null])
    expect(replayed.body.error).toMatch(/already used/)
  })

  test('lets concurrent uses of one sign-in pass once', async () => {
    const url = `${gate}/data/7`
    const headers = await signIn(payer, await world.request(url))
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.request(url, { headers })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402, 402, 402, 402, 402])
  })

  test('tells the upstream the payer, without the signature header', async () => {
    const url = `${gate}/data/7`
    await world.request(url, { headers: await signIn(payer, await world.request(url)) })
    const { headers } = world.upstream.requests.at(-1)!
    const [, identity = ''] = String(headers['coinslot-payment']).split('.')
    expect(JSON.parse(Buffer.from(identity, 'base64url').toString())).toMatchObject({
      state: 'signed-in',
      payer: payer.address,
      payment: null,
      amount: null,
    })
    expect(headers).not.toHaveProperty('sign-in-with-x')
  })

  test.each(['/data/8', '/data/7/'])('does not cover the unpaid path %s', async (path) => {
    const url = gate + path
    const unpaid = await world.request(url)
    if (unpaid.status !== 402) return
    const { status, body } = await world.request(url, { headers: await signIn(payer, unpaid) })
    expect(status).toBe(402)
    expect(body.error).toMatch(/has not paid for this path/)
  })

  test('does not cover another method', async () => {
    const url = `${gate}/data/7`
    const unpaid = await world.request(url, { method: 'POST' })
    const { status } = await world.request(url, { method: 'POST', headers: await signIn(payer, unpaid) })
    expect(status).toBe(402)
  })

  test("does not work for another wallet, nor with another signature under the payer's address", async () => {
    const url = `${gate}/data/7`
    const thief = await world.chain.payer(1_000_000n)
    for (const changes of [{}, { address: privateKeyToAccount(payer.privateKey).address }]) {
      const { status } = await world.request(url, { headers: await signIn(thief, await world.request(url), changes) })
      expect(status).toBe(402)
    }
  })

  test.each([
    ['another domain', { domain: 'evil.example' }, /another domain/],
    ['another address', { uri: 'https://evil.example/' }, /another address/],
    ['another chain', { chainId: 'eip155:1' }, /must name the chain/],
    ['a nonce of its own', { nonce: 'a'.repeat(56) }, /unknown nonce/],
    ['a long signature', { signature: `0x${'00'.repeat(200)}` }, /contract wallets/],
  ])('is refused with %s', async (_, changes, sentence) => {
    const url = `${gate}/data/7`
    const { status, body } = await world.request(url, {
      headers: await signIn(payer, await world.request(url), changes),
    })
    expect(status).toBe(402)
    expect(body.error).toMatch(sentence)
  })

  test('is refused with the challenge of another path', async () => {
    const headers = await signIn(payer, await world.request(`${gate}/data/8`))
    expect((await world.request(`${gate}/data/7`, { headers })).status).toBe(402)
  })

  test('is not offered by a route without the setting', async () => {
    const unpaid = await world.request(`${gate}/plain`)
    const required = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString())
    expect(required.extensions).not.toHaveProperty('sign-in-with-x')
    expect((await world.pay(payer, `${gate}/plain`)).status).toBe(200)
    const headers = await signIn(payer, await world.request(`${gate}/data/7`))
    expect((await world.request(`${gate}/plain`, { headers })).status).toBe(402)
  })

  test('is refused when the sign-in or the payment is too old', async () => {
    const url = `${gate}/data/7`
    const old = await signIn(payer, await world.request(url))
    world.service.clock.forward(301_000)
    expect((await world.request(url, { headers: old })).body.error).toMatch(/older than five minutes/)
    world.service.clock.forward(3_600_000)
    const { status, body } = await world.request(url, { headers: await signIn(payer, await world.request(url)) })
    expect(status).toBe(402)
    expect(body.error).toMatch(/not recently enough/)
  })

  test('ends when all payments for the path were refunded, or a refund of the last one is under way', async () => {
    const sold = await world.sell([
      { path: '/dear', pricing: { model: 'per-request', amount: 0.2 }, signIn: { seconds: 3_600 } },
    ])
    const url = `${sold.gate}/dear`
    const wallet = await world.chain.payer(1_000_000n)
    await world.chain.fund(world.service.wallets.treasury()!, 10_000_000n)
    const bought = async () => (await world.pay(wallet, url)).headers.get('x-payment-id')!
    const entered = async () =>
      (await world.request(url, { headers: await signIn(wallet, await world.request(url)) })).status
    const refunded = async (sale: string, body: object) => {
      expect((await refund(world.seller, sale, body)).status).toBe(202)
      await until(async () => {
        await world.chain.mine(4)
        await work(world.service)
        const { refunds } = (await world.seller.call('GET', `/v1/payments/${sale}`)).body.payment
        return (refunds as { state: string }[]).every(({ state }) => state === 'confirmed')
      })
    }
    const [first, second] = [await bought(), await bought()]
    await world.seller.call('POST', '/v1/wallet/deposit', { body: { amount: 0.4 } })
    expect(await entered()).toBe(200)
    await refunded(second, {})
    expect(await entered()).toBe(200)
    await refunded(first, { amount: 0.1 })
    expect(await entered()).toBe(200)
    await refunded(first, {})
    expect(await entered()).toBe(402)
    const third = await bought()
    expect(await entered()).toBe(200)
    // The seller's balance is empty, so this one waits.
    expect((await refund(world.seller, third, {})).body.refund.state).toBe('requested')
    expect(await entered()).toBe(402)
  })

  test('cannot be set on metered routes', async () => {
    const metered = { model: 'per-minute', amount: 0.01, minimum: 0.001, maximum: 0.1 }
    await expect(world.sell([{ path: '/m', pricing: metered, signIn: { seconds: 60 } }])).rejects.toThrow(
      /needs a price per request/,
    )
  })
})

describe('signing in at a gate that has changed its network', () => {
  let world: World
  let base: TestChain
  beforeAll(async () => {
    base = await startChain({ chainId: 8453 })
    const environment = { ...liveSettings(), BASE_RPC_URLS: base.url, ALLOW_HOSTS: '127.0.0.1' }
    world = await openWorld({ chain: true, person: 'production', environment })
  })
  afterAll(async () => {
    await world.close()
    await base.stop()
  })

  test('needs a payment on the network that it has now', async () => {
    const sold = await world.sell([
      { path: '/data', pricing: { model: 'per-request', amount: 0.05 }, signIn: { seconds: 3_600 } },
    ])
    const url = `${sold.gate}/data`
    const payer = await world.chain.payer(1_000_000n)
    await base.fund(payer.address, 1_000_000n)
    const entered = async () =>
      (await world.request(url, { headers: await signIn(payer, await world.request(url)) })).status
    const switchTo = async (network: string) => {
      expect((await world.seller.call('PATCH', `/v1/paywalls/${sold.id}`, { body: { network } })).status).toBe(200)
    }
    expect((await world.pay(payer, url)).status).toBe(200)
    expect(await entered()).toBe(200)
    await switchTo('base')
    expect(await entered()).toBe(402)
    expect((await buy({ chain: base, payer }, url, {})).status).toBe(200)
    expect(await entered()).toBe(200)
  })
})
