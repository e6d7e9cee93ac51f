import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from '../../service/chain/model.ts'
import { usdc } from '../../service/kit/money.ts'
import type { TestAccount } from '../harness/chain.ts'
import type { Answer } from '../harness/service.ts'
import { openWorld, type Depositor, type World } from './world.ts'

/**
 * Buyers without an account pay for a tool by x402: the money goes to the treasury, as a plain transfer that names no
 * account.
 */
describe('income from buyers without an account', () => {
  let world: World
  let upstream: Server
  let host: string
  let person: Depositor

  beforeAll(async () => {
    upstream = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"well":true}')
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    host = `127.0.0.1:${String((upstream.address() as AddressInfo).port)}`
    world = await openWorld({
      ALLOW_HOSTS: host,
      RATE_PAY_PER_MINUTE: '0',
      SETTLE_CONFIRMATIONS: '1',
      PLATFORM_FEE_BPS: '1000',
    })
    world.service.facilitator.start()
    await world.service.catalogue.importDocument(
      {
        ...{ environment: 'production', ownerId: null, slug: 'acme', name: null, description: null, simulated: false },
        ...{ source: null, pricing: { otherwise: usdc(10_000n) }, server: null, auth: null, trusted: true },
      },
      JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'Acme', version: '1' },
        servers: [{ url: `http://${host}` }],
        paths: {
          '/ping': { get: { operationId: 'ping', summary: 'Answers', responses: { 200: { description: 'Well' } } } },
        },
      }),
    )
    person = await world.person()
  })
  afterAll(async () => {
    await world.close()
    await new Promise((resolve) => upstream.close(resolve))
  })

  test("is the operator's capital: no difference in the books, no wallet's credit, and not claimable", async () => {
    const { chain, service } = world
    const payer = await chain.payer(1_000_000n)
    await world.mine(3)
    await world.watch()
    const before = (await service.wallets.reconciling.reconcile())!
    expect(before.difference).toBe(0n)

    const paid = await pay(payer)
    expect([paid.status, paid.text]).toEqual([200, expect.stringContaining('"well":true')])
    await world.mine(4)
    await world.watch()
    const after = (await service.wallets.reconciling.reconcile())!
    expect(after).toMatchObject({
      difference: 0n,
      treasury: before.treasury + 10_000n,
      capital: before.capital + 10_000n,
      wallets: before.wallets,
      revenue: before.revenue,
      depositAddresses: before.depositAddresses,
    })
    expect(await service.ledger.differences()).toEqual([])
    // An account that claims the payment's transaction as its own deposit is refused.
    const claimed = await person.deposit(0.01, String(paid.body.txHash))
    expect([claimed.status, claimed.body.code]).toEqual([409, expect.any(String)])
    expect(await person.balance()).toBe(0)
  })

  test('for a run goes to its creator less the fee, and is no capital', async () => {
    const { chain, service } = world
    const creator = await world.person()
    const asset = {
      slug: 'guest-ping',
      type: 'tool',
      name: 'Ping',
      description: 'Answers',
      inputSchema: [{ name: 'word', label: 'Word', type: 'text', required: true }],
      toolConfig: { apiEndpoint: `http://${host}/ping`, apiMethod: 'GET', basePrice: 0.05 },
    }
    expect((await creator.call('POST', '/v1/rda', { body: asset })).status).toBe(201)
    expect((await creator.call('POST', '/v1/rda/guest-ping/publish')).status).toBe(200)
    const payer = await chain.payer(1_000_000n)
    await world.mine(3)
    await world.watch()
    const before = (await service.wallets.reconciling.reconcile())!

    const paid = await pay(payer, '/v1/rda/guest-ping/run', { inputs: { word: 'x' } })
    expect([paid.status, paid.text]).toEqual([200, expect.stringContaining('well')])
    // Booked before its block was looked at: no difference either.
    const booked = (await service.wallets.reconciling.reconcile())!
    expect(booked).toMatchObject({ difference: 0n, treasury: before.treasury, wallets: before.wallets + 45_000n })
    await world.mine(4)
    await world.watch()
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({
      difference: 0n,
      treasury: before.treasury + 50_000n,
      capital: before.capital,
      wallets: before.wallets + 45_000n,
      revenue: before.revenue + 5_000n,
    })
    expect(await creator.balance()).toBe(0.045)
    expect(await service.ledger.differences()).toEqual([])
  })

  async function pay(payer: TestAccount, path = '/tools/pay/acme-ping', body: object = {}): Promise<Answer> {
    const unpaid = await world.service.call('POST', path, { body })
    const [terms] = unpaid.body.accepts
    expect(String(terms.payTo).toLowerCase()).toBe(world.service.wallets.treasury())
    const { signature, ...rest } = await payer.authorize(
      world.chain.network,
      String(terms.payTo).toLowerCase() as Hex,
      {
        value: BigInt(terms.maxAmountRequired as string),
      },
    )
    const authorization = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
    const payload = { x402Version: 1, scheme: 'exact', network: 'base', payload: { signature, authorization } }
    const headers = { 'X-PAYMENT': Buffer.from(JSON.stringify(payload)).toString('base64') }
    return world.service.call('POST', path, { body, headers })
  }
})
