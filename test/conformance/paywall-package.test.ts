import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { openWorld, usdcOf, type World } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The package as it is published, in a server of its own, with this facilitator and nothing else of ours. */
describe('the published middleware', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-package-'))
  let world: World
  let shop: ChildProcess
  let origin: string
  const events: { event: string; data: Record<string, unknown> }[] = []
  beforeAll(async () => {
    world = await openWorld()
    const build = path.join(root, 'service/paywall/middleware/build.mjs')
    await promisify(execFile)(process.execPath, [build, folder])
    const metered = { minimum: 0.001, maximum: 0.02 }
    const options = {
      facilitator: world.service.origin,
      rpc: world.chain.url,
      recipient: world.seller,
      network: 'base-sepolia',
      bodyBytesMax: 100_000,
      routes: [
        { path: '/request', pricing: { model: 'per-request', amount: 0.05 } },
        { path: '/stream', pricing: { model: 'per-request', amount: 0.05 } },
        { path: '/fails', pricing: { model: 'per-request', amount: 0.05 } },
        { method: 'POST', path: '/raw', pricing: { model: 'per-request', amount: 0.05 } },
        {
          path: '/tiered',
          pricing: { model: 'tiered', tiers: [{ upTo: 1, amount: 0.05 }, { amount: 0.02 }], window: 'lifetime' },
        },
        { method: 'POST', path: '/tokens', pricing: { model: 'per-token', input: 0.001, output: 0.002, ...metered } },
        { path: '/minutes', pricing: { model: 'per-minute', amount: 0.06, ...metered } },
      ],
    }
    shop = fork(fileURLToPath(new URL('./shop.mjs', import.meta.url)), {
      execArgv: [],
      env: {
        PATH: process.env['PATH'],
        PACKAGE: pathToFileURL(`${folder}/index.js`).href,
        OPTIONS: JSON.stringify(options),
      },
    })
    const [listening] = (await once(shop, 'message')) as [{ origin: string }]
    origin = listening.origin
    shop.on('message', ({ event }: { event?: (typeof events)[number] }) => {
      if (event !== undefined) events.push(event)
    })
  })
  afterAll(async () => {
    shop.kill('SIGKILL')
    await world.close()
    rmSync(folder, { recursive: true })
  })

  describe.each([1, 2, 'axios'] as const)('and a stock client (%s)', (version) => {
    let buyer: Buyer
    beforeAll(() => {
      buyer = startBuyer(version)
    })
    afterAll(() => buyer.stop())

    it('trade by all four models', async () => {
      const payer = await world.chain.payer(1_000_000n)
      const buy = (where: string, request: RequestInit = {}) =>
        buyer.buy({ url: origin + where, privateKey: payer.privateKey, request })
      const paid = await buy('/request')
      expect(paid).toMatchObject({
        status: 200,
        body: { page: 'worth it', payer: payer.address },
        receipt: { success: true },
      })
      expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
      const { name, value } = paid.header
      const again = await fetch(`${origin}/request`, { headers: { [name]: value } })
      expect(again.status).toBe(409)

      const as = { headers: { 'x-payment-payer': payer.address } }
      expect((await buy('/tiered', as)).status).toBe(200)
      expect((await buy('/tiered', as)).status).toBe(200)
      expect(await usdcOf(world.chain, payer.address)).toBe(880_000n)

      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
      expect(await buy('/tokens', post)).toMatchObject({ status: 200, body: { echoed: { a: 1 } } })
      expect((await buy('/tokens', post)).status).toBe(200)
      // What is left of both pays for the third.
      expect((await buy('/tokens', post)).status).toBe(200)
      expect(await usdcOf(world.chain, payer.address)).toBe(840_000n)
      expect((await buy('/minutes')).status).toBe(200)
      // The same balance: one paywall, one payer.
      expect(await usdcOf(world.chain, payer.address)).toBe(840_000n)
      expect(await buy('/fails')).toMatchObject({ status: 500, body: { fails: true } })
      expect(await usdcOf(world.chain, payer.address)).toBe(840_000n)

      const theirs = events.filter(({ data }) => data['customerId'] === payer.address).map(({ event }) => event)
      expect(theirs.filter((event) => event === 'customer.first_payment')).toHaveLength(1)
      expect(theirs.filter((event) => event === 'pricing.tier_changed')).toHaveLength(1)
      expect(theirs.filter((event) => event === 'payment.completed')).toHaveLength(5)
    })
  })

  async function signFor(
    payer: Awaited<ReturnType<World['chain']['payer']>>,
    where: string,
    request: RequestInit = {},
  ) {
    const unpaid = await fetch(origin + where, request)
    const header = JSON.parse(Buffer.from(unpaid.headers.get('payment-required')!, 'base64').toString())
    const { signature, ...terms } = await payer.authorize(world.chain.network, world.seller, { value: 50_000n })
    const authorization = Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)]))
    const payment = { x402Version: 2, accepted: header.accepts[0], payload: { signature, authorization } }
    return { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }
  }

  it('binds a payment to the bytes of a body that nothing has parsed, and leaves them to the handlers', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const requestOf = (body: string, payment = {}) => ({
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...payment },
      body,
    })
    const payment = await signFor(payer, '/raw', requestOf('x'))
    const large = await fetch(`${origin}/raw`, requestOf('y'.repeat(100_001), payment))
    expect([large.status, await large.json()]).toEqual([413, expect.objectContaining({ code: 'body_too_large' })])
    const fresh = await signFor(payer, '/raw', requestOf('x'))
    expect((await fetch(`${origin}/raw`, requestOf('one', fresh))).status).toBe(500)
    const other = await fetch(`${origin}/raw`, requestOf('two', fresh))
    expect([other.status, await other.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'payment_for_another_request' }),
    ])
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    const same = await fetch(`${origin}/raw`, requestOf('one', fresh))
    expect([same.status, await same.json()]).toEqual([200, { got: 'one' }])
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    const long = 'z'.repeat(99_000)
    const whole = await fetch(`${origin}/raw`, requestOf(long, await signFor(payer, '/raw', requestOf('x'))))
    expect([whole.status, await whole.json()]).toEqual([200, { got: long }])
  })

  it('charges a wallet with code before its handler runs', async () => {
    const [wallet, key] = await Promise.all([world.chain.payer(1_000_000n), world.chain.payer(1_000_000n)])
    await world.chain.delegate(wallet.address)
    for (const [payer, left] of [
      [wallet, 950_000n],
      [key, 1_000_000n],
    ] as const) {
      expect((await fetch(`${origin}/fails`, { headers: await signFor(payer, '/fails') })).status).toBe(500)
      expect(await usdcOf(world.chain, payer.address)).toBe(left)
    }
  })

  it('passes unpriced routes through, and streams paid ones', async () => {
    expect(await (await fetch(`${origin}/free`)).json()).toEqual({ free: true })
    const unpaid = await fetch(`${origin}/stream`)
    expect(unpaid.status).toBe(402)
    const header = JSON.parse(Buffer.from(unpaid.headers.get('payment-required')!, 'base64').toString())
    const payer = await world.chain.payer(1_000_000n)
    const { signature, ...terms } = await payer.authorize(world.chain.network, world.seller, { value: 50_000n })
    const authorization = Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)]))
    const payment = { x402Version: 2, accepted: header.accepts[0], payload: { signature, authorization } }
    const paid = await fetch(`${origin}/stream`, {
      headers: { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') },
    })
    expect(paid.status).toBe(200)
    expect(await paid.text()).toBe('data: one\n\ndata: two\n\n')
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })
})
