import { randomBytes } from 'node:crypto'
import { WebSocket } from 'ws'
import { memoryBalances } from '../../service/paywall/middleware/memory-balances.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { TestPerson } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'
import { json, pieceOf, readerOf } from './upstream.ts'
import { openWorld, until, type World } from './world.ts'

const CHAT = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }

describe('a prepaid route', () => {
  /*
   * Metered calls: the highest price is paid in, each call draws its cost, and the rest stays the payer's for the next
   * one.
   */

  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    world.upstream.on('/chat', (_request, response) => {
      json(response, 200, { text: 'hello', usage: { input_tokens: 1_000, output_tokens: 2_000 } })
    })
  })
  afterAll(() => world.close())

  async function balanceOf(payer: string) {
    const [row] = await world.service.database.statements.run<Record<'available' | 'held' | 'paid' | 'drawn', bigint>>(
      'SELECT available, held, paid, drawn FROM paywall_balance WHERE payer = $1',
      [payer],
    )
    return row
  }

  it("returns a token once, draws each call's cost, and pays back the rest", async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    expect((await world.request(`${gate}/chat`, request)).body.amount).toBe('0.02')
    const paid = await world.pay(payer, `${gate}/chat`, request)
    expect(paid.status).toBe(200)
    expect(paid.headers.get('x-payment-balance')).toBe('0.015')
    expect(paid.headers.get('x-payment-cost')).toBe('0.005')
    const token = paid.headers.get('x-payment-token')!
    expect(token).toMatch(/^tok_/)
    // Less than the highest price of the next call.
    const short = await world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-token': token } })
    expect(short).toMatchObject({
      status: 402,
      body: { reason: 'insufficient_balance', balance: '0.015', amount: '0.005', prepaid: { maximum: '0.02' } },
    })
    expect(short.body.accepts[0].maxAmountRequired).toBe('5000')
    // The second payment is added to the first: one payer, one balance, and either token can use it.
    const more = await world.pay(payer, `${gate}/chat`, request)
    expect(more.headers.get('x-payment-balance')).toBe('0.03')
    const third = await world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-token': token } })
    expect(third.status).toBe(200)
    expect(third.headers.get('x-payment-balance')).toBe('0.025')
    expect(third.headers.get('x-payment-token')).toBeNull()
    // Each call has a receipt: one that paid on the chain with its transaction, and one that draws without.
    const [, drawn = ''] = third.headers.get('x-payment-signed-receipt')!.split('.')
    expect(JSON.parse(Buffer.from(drawn, 'base64url').toString())).toMatchObject({
      payer: payer.address,
      resourceUrl: expect.stringMatching(/\/chat$/) as unknown,
      transaction: '',
    })
    expect(await balanceOf(payer.address)).toEqual({ available: 25_000n, held: 0n, paid: 40_000n, drawn: 15_000n })
    expect(await usdcOf(world.chain, payer.address)).toBe(960_000n)
    // A signature proves who is asking: it draws from the balance, and buys nothing a second time.
    const header = await world.sign(payer, await world.request(`${gate}/chat`, request))
    expect((await world.request(`${gate}/chat`, { ...request, headers: header })).status).toBe(200)
    expect((await world.request(`${gate}/chat`, { ...request, headers: header })).status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(960_000n)
    const wrong = await world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-token': 'tok_x' } })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
  })

  it("shows its owner what a customer has left, by wallet or by the e-mail address of the customer's receipts", async () => {
    const { id, gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    await world.pay(payer, `${gate}/chat`, { method: 'POST', body: '{}' })
    const balancesOf = async (person: TestPerson, customer: string) => {
      const query = encodeURIComponent(JSON.stringify({ customer }))
      return (await person.call('GET', `/trpc/paywalls.balances?input=${query}`)).body.result.data.balances as unknown
    }
    const left = { paywallId: id, payer: payer.address, available: 0.015, held: 0, paid: 0.02, used: 0.005 }
    expect(await balancesOf(world.seller, payer.address)).toMatchObject([left])
    expect(await balancesOf(world.seller, 'grace@example.com')).toEqual([])
    const details = { receipt: { email: 'Grace@example.com', language: 'en' } }
    await addSale(world.service, world.seller, { payer: payer.address, details })
    expect(await balancesOf(world.seller, 'grace@example.com')).toMatchObject([left])
    expect(await balancesOf(await world.service.person(), payer.address)).toEqual([])
  })

  it('charges only the missing amount, tops up the same balance, and makes the call', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    const token = (await world.pay(payer, `${gate}/chat`, request)).headers.get('x-payment-token')!
    const withToken = { ...request, headers: { 'x-payment-token': token } }
    for (const [call, version] of ([1, 2, 1] as const).entries()) {
      const topped = await world.pay(payer, `${gate}/chat`, { ...withToken, version })
      expect([topped.status, topped.headers.get('x-payment-balance')]).toEqual([200, '0.015'])
      expect(await usdcOf(world.chain, payer.address)).toBe(980_000n - 5_000n * BigInt(call + 1))
    }
    expect(await balanceOf(payer.address)).toEqual({ available: 15_000n, held: 0n, paid: 35_000n, drawn: 20_000n })

    // A failed upstream charges nothing: the paid-in money is there for the next call.
    const required = await world.request(`${gate}/chat`, withToken)
    world.upstream.on('/chat', (_request, response) => json(response, 500, {}))
    const header = await world.sign(payer, required)
    const failed = await world.request(`${gate}/chat`, { ...request, headers: { ...withToken.headers, ...header } })
    expect([failed.status, failed.headers.get('x-payment-balance')]).toEqual([500, '0.02'])
    world.upstream.on('/chat', (_request, response) => {
      json(response, 200, { text: 'hello', usage: { input_tokens: 1_000, output_tokens: 2_000 } })
    })
    expect((await world.request(`${gate}/chat`, withToken)).headers.get('x-payment-balance')).toBe('0.015')

    // Other clients can neither read the balance nor spend it: not by naming the payer, not with a signature of their
    // own.
    const stranger = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-payer': payer.address } })
    expect([unpaid.body.amount, unpaid.body.prepaid.balance]).toEqual(['0.02', null])
    const theirs = await world.sign(stranger, await world.request(`${gate}/chat`, withToken))
    const other = await world.request(`${gate}/chat`, { ...request, headers: { ...withToken.headers, ...theirs } })
    expect(other).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
    const alone = await world.request(`${gate}/chat`, { ...request, headers: theirs })
    expect(alone).toMatchObject({ status: 402, body: { reason: 'insufficient_balance', amount: '0.02', balance: '0' } })
    expect(await usdcOf(world.chain, stranger.address)).toBe(1_000_000n)
  })

  it('opens the balance at each gate where its payer has paid with a token of their choice, and nowhere else', async () => {
    const route = { method: 'POST', path: '/chat', pricing: CHAT }
    const [first, second, third] = [await world.sell([route]), await world.sell([route]), await world.sell([route])]
    const [payer, thief] = [await world.chain.payer(1_000_000n), await world.chain.payer(1_000_000n)]
    const headers = { 'x-payment-token': `tok_${'c'.repeat(43)}` }
    const request = { method: 'POST', body: '{}', headers }
    for (const { gate } of [first, second]) {
      await world.pay(payer, `${gate}/chat`, { method: 'POST', body: '{}' })
      expect((await world.pay(payer, `${gate}/chat`, request)).status).toBe(200)
    }
    for (const left of ['0.025', '0.02', '0.015']) {
      for (const { gate } of [first, second]) {
        const called = await world.request(`${gate}/chat`, request)
        expect([called.status, called.headers.get('x-payment-balance')]).toEqual([200, left])
      }
    }
    expect((await world.request(`${third.gate}/chat`, request)).body.reason).toBe('unknown_token')
    // At one gate a token stays with the payer who was the first to pay with it.
    const theirs = await world.pay(thief, `${first.gate}/chat`, request)
    expect(theirs).toMatchObject({ status: 400, body: { code: 'invalid_payment' } })
  })

  it('never serves more than was paid in, for concurrent payments of the difference', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    const token = (await world.pay(payer, `${gate}/chat`, request)).headers.get('x-payment-token')!
    const unpaid = await world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-token': token } })
    const headers = await Promise.all(Array.from({ length: 6 }, () => world.sign(payer, unpaid)))
    const answers = await Promise.all(
      headers.map((header) =>
        world.request(`${gate}/chat`, { ...request, headers: { 'x-payment-token': token, ...header } }),
      ),
    )
    const served = answers.filter(({ status }) => status === 200).length
    expect(served).toBeGreaterThan(0)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(served === 6 ? [200] : [200, 402]))
    const { paid, drawn, held, available } = (await balanceOf(payer.address))!
    expect(drawn).toBe(5_000n * BigInt(served + 1))
    expect([held, available]).toEqual([0n, paid - drawn])
    expect(paid).toBe(1_000_000n - (await usdcOf(world.chain, payer.address)))
  })

  it('never draws more than was paid in, for concurrent calls', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: { ...CHAT, maximum: 0.1 } }])
    const payer = await world.chain.payer(1_000_000n)
    const paid = await world.pay(payer, `${gate}/chat`, { method: 'POST', body: '{}' })
    await world.pay(payer, `${gate}/chat`, { method: 'POST', body: '{}' })
    const token = paid.headers.get('x-payment-token')!
    const before = world.upstream.requests.length
    const headers = { 'x-payment-token': token }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => world.request(`${gate}/chat`, { method: 'POST', headers, body: '{}' })),
    )
    const served = answers.filter(({ status }) => status === 200).length
    expect(served).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status !== 402 && status !== 200).map(({ text }) => text)).toEqual([])
    expect(world.upstream.requests.length - before).toBe(served)
    const balance = await balanceOf(payer.address)
    expect(balance).toMatchObject({ held: 0n, paid: 200_000n, drawn: 5_000n * BigInt(served + 2) })
  })

  it('charges nothing for a failed call, and counts tokens where the upstream says nothing of them', async () => {
    const pricing = { ...CHAT, input: 0.1, output: 0.1, maximum: 0.05, minimum: 0 }
    const { gate } = await world.sell([{ method: 'POST', path: '/plain', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.on('/plain', (_request, response) => {
      json(response, 200, { answer: 'one two three four five' })
    })
    const request = { method: 'POST', body: JSON.stringify({ prompt: 'say five words' }) }
    const paid = await world.pay(payer, `${gate}/plain`, request)
    // Three input tokens, five output tokens, at a tenth of a dollar per thousand.
    expect(paid.headers.get('x-payment-cost')).toBe('0.0008')
    await world.pay(payer, `${gate}/plain`, request)
    world.upstream.on('/plain', (_request, response) => {
      json(response, 503, {})
    })
    const headers = { 'x-payment-token': paid.headers.get('x-payment-token')! }
    const failed = await world.request(`${gate}/plain`, { ...request, headers })
    expect(failed.status).toBe(503)
    expect(failed.headers.get('x-payment-balance')).toBe('0.0984')
  })

  it('settles a stream at its headers, passes it on as it comes, and charges the usage it reports', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/stream', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    let finish = (): void => undefined
    world.upstream.on('/stream', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n')
      finish = () => {
        response.write('data: {"choices":[],"usage":{"prompt_tokens":3000,"completion_tokens":1000}}\n\n')
        response.end('data: [DONE]\n\n')
      }
    })
    const request = { method: 'POST', body: '{}' }
    const header = await world.sign(payer, await world.request(`${gate}/stream`, request))
    const response = await fetch(`${gate}/stream`, { ...request, headers: header })
    expect(response.status).toBe(200)
    const reader = readerOf(response)
    expect(await pieceOf(reader)).toContain('Hel')
    // Paid, and held in full while the call lasts.
    expect(await balanceOf(payer.address)).toMatchObject({ held: 20_000n, available: 0n })
    finish()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += Buffer.from(value).toString()
    }
    expect(rest).toContain('[DONE]')
    const balance = await until(async () => {
      const row = await balanceOf(payer.address)
      return row?.held === 0n ? row : null
    })
    expect(balance).toEqual({ available: 15_000n, held: 0n, paid: 20_000n, drawn: 5_000n })
  })

  it('ends a call when its money is used up, and charges the minimum if the process died', async () => {
    const pricing = { model: 'per-minute', amount: 6, minimum: 0.01, maximum: 0.1 }
    const { gate } = await world.sell([{ path: '/endless', pricing }])
    world.upstream.on('/endless', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
    })
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${gate}/endless`))
    const response = await fetch(`${gate}/endless`, { headers: header })
    await expect(response.text()).rejects.toThrow()
    const balance = await until(async () => {
      const row = await balanceOf(payer.address)
      return row?.held === 0n ? row : null
    })
    expect(balance).toMatchObject({ drawn: 100_000n })

    const { database, clock, paywalls } = world.service
    const [{ paywall_id: paywall }] = (await database.statements.run(
      'UPDATE paywall_balance SET available = available + 50000, paid = paid + 50000 WHERE payer = $1 RETURNING paywall_id',
      [payer.address],
    )) as [{ paywall_id: string }]
    await database.statements.run(
      `WITH h AS (UPDATE paywall_balance SET available = available - 50000, held = 50000 WHERE payer = $2)
     INSERT INTO paywall_hold VALUES ('op_dead', $1, 'base-sepolia', $2, 'GET /endless', 50000, 10000, $3)`,
      [paywall, payer.address, clock.now()],
    )
    await paywalls.endHolds(clock.now())
    expect(await balanceOf(payer.address)).toEqual({ available: 40_000n, held: 0n, paid: 150_000n, drawn: 110_000n })
  })

  it('charges at most the limit that the buyer was shown', async () => {
    const { gate, id } = await world.sell([{ method: 'POST', path: '/chat', pricing: { ...CHAT, maximum: 0.002 } }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    const header = await world.sign(payer, await world.request(`${gate}/chat`, request))
    const routes = [{ method: 'POST', path: '/chat', pricing: CHAT }]
    await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes } })
    world.service.clock.forward(2_000)
    expect((await world.request(`${gate}/chat`, { ...request, headers: header })).status).toBe(200)
    expect(await balanceOf(payer.address)).toEqual({ available: 0n, held: 0n, paid: 2_000n, drawn: 2_000n })
  })

  it('takes nothing that was signed into a balance for a price by request', async () => {
    const { gate, id } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    const header = await world.sign(payer, await world.request(`${gate}/chat`, request))
    const routes = [{ method: 'POST', path: '/chat', pricing: { model: 'per-request', amount: 0.001 } }]
    await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes } })
    world.service.clock.forward(2_000)
    expect((await world.request(`${gate}/chat`, { ...request, headers: header })).status).toBe(402)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    expect((await world.pay(payer, `${gate}/chat`, request)).status).toBe(200)
  })

  it('makes the answer that a price by request has paid for, though the route is measured by then', async () => {
    const priced = (pricing: object) => [{ method: 'POST', path: '/letter', pricing, settle: 'before' }]
    const { gate, id } = await world.sell(priced({ model: 'per-request', amount: 0.02 }) as never)
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    world.upstream.on('/letter', (_request, response) => json(response, 500, {}))
    const token = { 'x-payment-token': `tok_${'l'.repeat(43)}` }
    const signed = await world.sign(payer, await world.request(`${gate}/letter`, request))
    const headers = { ...signed, ...token }
    expect((await world.request(`${gate}/letter`, { ...request, headers })).status).toBe(500)
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes: priced(CHAT) } })
    world.service.clock.forward(2_000)
    world.upstream.on('/letter', (_request, response) => json(response, 200, { letter: 1 }))
    expect(await world.request(`${gate}/letter`, { ...request, headers })).toMatchObject({
      status: 200,
      body: { letter: 1 },
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    expect(await balanceOf(payer.address)).toBeUndefined()
  })

  it('serves a call whose money comes first at the limit that the buyer was shown', async () => {
    const priced = (maximum: number) => [
      { method: 'POST', path: '/chat', pricing: { ...CHAT, maximum }, settle: 'before' },
    ]
    const { gate, id } = await world.sell(priced(0.002))
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', body: '{}' }
    const header = await world.sign(payer, await world.request(`${gate}/chat`, request))
    await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes: priced(0.02) } })
    world.service.clock.forward(2_000)
    expect((await world.request(`${gate}/chat`, { ...request, headers: header })).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(998_000n)
    expect(await balanceOf(payer.address)).toEqual({ available: 0n, held: 0n, paid: 2_000n, drawn: 2_000n })
  })

  it('sells a WebSocket by the time that it is open', async () => {
    const pricing = { model: 'per-minute', amount: 0.6, minimum: 0.01, maximum: 0.1 }
    const { gate } = await world.sell([{ path: '/socket', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(`${gate}/socket`))
    const socket = new WebSocket(`${gate.replace('http', 'ws')}/socket`, { headers: header })
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
    expect(await balanceOf(payer.address)).toMatchObject({ held: 100_000n })
    const echoed = new Promise((resolve) => socket.on('message', (data: Buffer) => resolve(data.toString())))
    socket.send('hello')
    expect(await echoed).toBe('echo hello')
    world.service.clock.forward(4_000)
    socket.terminate()
    const balance = await until(async () => {
      const row = await balanceOf(payer.address)
      return row?.held === 0n ? row : null
    })
    // Four seconds and the test's own time; far from all of it.
    expect(balance.drawn).toBeGreaterThanOrEqual(50_000n)
    expect(balance.drawn).toBeLessThan(100_000n)
  })

  it('never changes a draw', async () => {
    const run = (text: string): Promise<unknown> => world.service.database.statements.run(text, [])
    await expect(run('UPDATE paywall_draw SET amount = 0')).rejects.toThrow(/never changed/)
    await expect(run('DELETE FROM paywall_draw')).rejects.toThrow(/never changed/)
  })
})

it("the middleware's balances are opened by one token at each network where it was paid with", () => {
  const balances = memoryBalances()
  const token = randomBytes(32)
  const payer = `0x${'a1'.repeat(20)}`
  const details = { kind: 'balance', route: 'POST /chat', endpoint: '/chat', windowStart: null, cost: null }
  const sale = { subject: 'pwl_1', userId: 'usr_1', payer, amount: 20_000n, tokenHash: token, details }
  const hold = { paywallId: 'pwl_1', by: { token }, amount: 20_000n, minimum: 0n, until: new Date() }
  const held = (network: string) => balances.hold({ ...hold, network, call: `call on ${network}` } as never)
  balances.credit({ ...sale, network: 'base-sepolia' } as never, null)
  expect(held('base')).toEqual({ held: false, balance: null })
  balances.credit({ ...sale, network: 'base' } as never, null)
  expect(held('base')).toEqual({ held: true, payer, left: 0n })
  expect(held('base-sepolia')).toEqual({ held: true, payer, left: 0n })
})
