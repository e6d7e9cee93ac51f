import type { Payment } from '../harness/wallet.ts'
import { payWorld, type PayWorld } from './calls/pay-world.ts'
import { dyingAt, startReplica, type Replica } from './calls/replica.ts'
import type { TestPerson } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/** A process dies between the steps of a call; the caller repeats it, and another process serves it. */
describe('a call whose process dies', () => {
  let world: PayWorld
  let dead: Replica[] = []
  beforeAll(async () => {
    world = await payWorld()
    world.upstream.respondWith('/notes', { id: 5 }, 201)
  })
  afterEach(async () => {
    await Promise.all(dead.map((replica) => replica.abandon()))
    dead = []
  })
  afterAll(async () => {
    await world.close()
  })

  const input = { title: 'Survives' }

  test.each<[state: string, requests: number]>([
    ['reserved', 1],
    ['answered', 2],
    ['captured', 1],
  ])('once its money was %s: charged once, and answered', async (state, requests) => {
    const caller = await world.caller()
    const { failpoints, reached } = dyingAt(`call ${state}`)
    const replica = await startReplica(world.service, {}, failpoints)
    dead.push(replica)
    const before = world.upstream.to('/notes').length
    const headers = {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      'idempotency-key': `dies-${state}`,
    }
    const controller = new AbortController()
    const lost = fetch(`${replica.origin}/tools/acme-create-note`, {
      method: 'POST',
      headers,
      body: JSON.stringify(input),
      signal: controller.signal,
    }).catch(() => null)
    await reached
    controller.abort()
    await lost

    // Its claim on the name expires, and its hold as well.
    world.service.clock.forward(120_000)
    await world.service.ledger.sweep()
    expect(await world.locks()).toBe(0)
    const again = await world.call(caller, 'acme-create-note', input, headers)
    expect([again.status, again.body.output]).toEqual([200, { id: 5 }])
    expect(world.upstream.to('/notes')).toHaveLength(before + requests)
    expect(await world.left(caller)).toEqual({ credits: 4.99, balance: 0, available: 0, locks: 0 })
    expect(await world.service.ledger.differences()).toEqual([])
    expect((await caller.call('GET', '/v1/tool-calls')).body).toMatchObject({ total: 1, calls: [{ success: true }] })
  })

  describe('or whose hold ends before the tool has answered', () => {
    const lateAnswer = async (caller: TestPerson, meanwhile: () => Promise<unknown>) => {
      const answer = world.upstream.holds('/slow', { late: true })
      const before = world.upstream.to('/slow').length
      const call = world.call(caller, 'acme-get-slow')
      await world.upstream.waitForRequest('/slow', before + 1)
      world.service.clock.forward(120_000)
      expect(await world.service.ledger.sweep()).toBe(1)
      await meanwhile()
      answer()
      return await call
    }

    test('is charged by a new hold, once', async () => {
      const caller = await world.caller()
      const { status, body } = await lateAnswer(caller, () => Promise.resolve())
      expect([status, body.output]).toEqual([200, { late: true }])
      expect(await world.left(caller)).toEqual({ credits: 4.99, balance: 0, available: 0, locks: 0 })
      const { body: list } = await caller.call('GET', '/v1/tool-calls')
      expect(list).toMatchObject({ total: 1, calls: [{ success: true, cost: 0.01 }] })
    })

    test('has no answer where the money is gone, and costs nothing', async () => {
      const caller = await world.caller()
      const { status, body } = await lateAnswer(caller, () => world.spend(caller, 5_000_000n))
      expect([status, body.code, body.output]).toEqual([402, 'insufficient_credits', undefined])
      expect(await world.left(caller)).toMatchObject({ credits: 0, locks: 0 })
      expect(await world.service.ledger.differences()).toEqual([])
    })
  })

  test('a failed one with a key is tried again, and charged when it succeeds', async () => {
    const caller = await world.caller()
    const headers = { 'idempotency-key': 'fails-first' }
    for (let attempt = 0; attempt < 3; attempt++) {
      world.upstream.respondWith('/anything', {}, 500)
      expect((await world.call(caller, 'acme-get-anything', {}, headers)).status).toBe(502)
    }
    world.upstream.respondWith('/anything', { well: true })
    expect((await world.call(caller, 'acme-get-anything', {}, headers)).body).toMatchObject({ output: { well: true } })
    expect((await world.call(caller, 'acme-get-anything', {}, headers)).headers.get('idempotency-replayed')).toBe(
      'true',
    )
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
    expect((await caller.call('GET', '/v1/tool-calls')).body.total).toBe(1)
  })

  test.each<[state: string, slug: string]>([
    ['sale claimed', 'acme-create-note'],
    ['sale settling', 'acme-create-note'],
    ['sale settled', 'acme-create-note'],
    ['sale paid', 'acme-create-note'],
    ['sale delivered', 'acme-create-note'],
    ['sale claimed', 'acme-get-anything'],
    ['sale settling', 'acme-get-anything'],
    ['sale settled', 'acme-get-anything'],
    ['sale paid', 'acme-get-anything'],
  ])('a guest’s, once it was %s at %s, is paid once and answered', async (state, slug) => {
    const input = slug === 'acme-create-note' ? { title: 'Survives' } : {}
    const path = slug === 'acme-create-note' ? '/notes' : '/anything'
    world.upstream.respondWith('/anything', { id: 5 })
    const payer = await world.chain.payer(1_000_000n)
    const { failpoints, reached } = dyingAt(state)
    const replica = await startReplica(
      world.service,
      {
        TOOLS_RECIPIENT: world.seller,
        BASE_SEPOLIA_RPC_URLS: world.chain.url,
        SPONSOR_PRIVATE_KEYS: world.chain.accounts[0]!.privateKey,
        RATE_PAY_PER_MINUTE: '0',
      },
      failpoints,
    )
    dead.push(replica)
    const payment = await world.sign(payer, await world.buy(slug, input), 2, { validBefore: FAR })
    const before = world.upstream.to(path).length
    void buyAt(replica.origin, payment, slug, input).catch(() => null)
    await reached
    world.service.clock.forward(120_000)
    const again = await buyAgain(slug, input, payment)
    expect([again.status, again.body.code, again.body.output]).toEqual([200, undefined, { id: 5 }])
    expect(world.upstream.to(path)).toHaveLength(before + 1)
    expect(await world.usdc(payer.address)).toBe(990_000n)
  })

  test.each([
    ['settling', 0],
    // Longer than the wait for the chain, and shorter than a tool may take on top.
    ['paid', 80_000],
  ])('a guest’s, while it is %s, answers authorization_busy without a call to the tool', async (state, waitedMs) => {
    const payer = await world.chain.payer(1_000_000n)
    const { failpoints, reached } = dyingAt(`sale ${state}`)
    const environment = {
      TOOLS_RECIPIENT: world.seller,
      BASE_SEPOLIA_RPC_URLS: world.chain.url,
      SPONSOR_PRIVATE_KEYS: world.chain.accounts[0]!.privateKey,
    }
    const replica = await startReplica(world.service, environment, failpoints)
    dead.push(replica)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input), 2, { validBefore: FAR })
    const before = world.upstream.to('/notes').length
    void buyAt(replica.origin, payment).catch(() => null)
    await reached
    world.service.clock.forward(waitedMs)
    const again = await world.buy('acme-create-note', input, payment, TOKEN)
    expect([again.status, again.body.code]).toEqual([409, 'authorization_busy'])
    expect(world.upstream.to('/notes')).toHaveLength(before)
  })

  test('a guest’s that is never repeated is released unpaid', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const { failpoints, reached } = dyingAt('sale claimed')
    const environment = {
      TOOLS_RECIPIENT: world.seller,
      BASE_SEPOLIA_RPC_URLS: world.chain.url,
      SPONSOR_PRIVATE_KEYS: world.chain.accounts[0]!.privateKey,
    }
    const replica = await startReplica(world.service, environment, failpoints)
    dead.push(replica)
    const payment = await world.sign(payer, await world.buy('acme-create-note', input), 2, { validBefore: FAR })
    void buyAt(replica.origin, payment).catch(() => null)
    await reached
    world.service.clock.forward(120_000)
    await until(async () => (await stateOf(payer.address)) === 'released')
    expect(await world.usdc(payer.address)).toBe(1_000_000n)
  })

  /** The sweeper may have the sale at that very moment; a client is told to try again. */
  async function buyAgain(slug: string, input: object, payment: Payment) {
    for (let attempt = 0; ; attempt++) {
      const answer = await world.buy(slug, input, payment, TOKEN)
      if (answer.body.code !== 'authorization_busy' || attempt === 100) return answer
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Chosen by the buyer: the signature alone fetches nothing once it may be visible on chain. */
  const TOKEN = `tok_${'t'.repeat(43)}`
  const FAR = BigInt(Math.floor(Date.now() / 1000) + 36_000)

  function buyAt(
    origin: string,
    { header, value }: Payment,
    slug = 'acme-create-note',
    sent: object = input,
  ): Promise<unknown> {
    const headers = { 'content-type': 'application/json', [header]: value, 'x-payment-token': TOKEN }
    return fetch(`${origin}/tools/pay/${slug}`, { method: 'POST', headers, body: JSON.stringify(sent) })
  }

  async function stateOf(payer: string): Promise<string | undefined> {
    const [row] = await world.service.database.statements.run<{ state: string }>(
      'SELECT state FROM sale WHERE payer = $1',
      [payer],
    )
    return row?.state
  }
})
