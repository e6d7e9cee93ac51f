import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import fc from 'fast-check'
import { paywall } from '../../service/paywall/middleware/index.ts'
import type { TestAccount } from '../harness/chain.ts'
import { usdcOf } from '../facilitator/world.ts'
import { leaveWhileWaiting } from '../harness/leaving.ts'
import { json } from './upstream.ts'
import { openWorld, signed, until, type World } from './world.ts'

/* A request that was sent upstream is finished and paid for, even if its client disconnects. */
describe('a client that leaves', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())

  const PRICE = { model: 'per-request', amount: 0.05 }
  const CHAT = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.2 }
  const requestsTo = (path: string): number => world.upstream.requests.filter(({ url }) => url.startsWith(path)).length

  /** Sends a request, and hangs up once the upstream has received it. */
  async function leave(url: string, headers: Record<string, string>, path: string, init: RequestInit = {}) {
    const before = requestsTo(path)
    const controller = new AbortController()
    const pendingRequest = fetch(url, { ...init, headers, signal: controller.signal }).then((response) =>
      response.text(),
    )
    await until(() => requestsTo(path) > before)
    controller.abort()
    await expect(pendingRequest).rejects.toThrow()
  }

  async function balanceOf(payer: string) {
    const [row] = await world.service.database.statements.run<{ available: bigint; held: bigint; drawn: bigint }>(
      'SELECT available, held, drawn FROM paywall_balance WHERE payer = $1',
      [payer],
    )
    return row
  }

  it('pays first, leaves and repeats the call: one effect, one charge, the same answer', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/letters', pricing: PRICE, settle: 'before' }])
    const payer = await world.chain.payer(1_000_000n)
    let letters = 0
    let answerNow = (): void => undefined
    world.upstream.on('/letters', (_request, response) => {
      letters++
      answerNow = () => json(response, 201, { letter: letters })
    })
    const init = { method: 'POST', body: '{}' }
    const signed = await world.sign(payer, await world.request(`${gate}/letters`, init))
    // Chosen by the buyer: the signature alone fetches nothing once it may be visible on chain.
    const header = { ...signed, 'x-payment-token': `tok_${'t'.repeat(43)}` }
    await leave(`${gate}/letters`, header, '/letters', init)
    answerNow()
    const answer = await until(async () => {
      const one = await world.request(`${gate}/letters`, { ...init, headers: header })
      return one.status === 409 ? null : one
    })
    expect(answer).toMatchObject({ status: 201, body: { letter: 1 } })
    expect(letters).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('buys nothing where it leaves before its gate is found', async () => {
    const { gate } = await world.sell(['/early', '/later'].map((path) => ({ path, pricing: PRICE })))
    const payer = await world.chain.payer(1_000_000n)
    const headers = await world.sign(payer, await world.request(`${gate}/early`))
    // What is known of the gate is too old by then.
    world.service.clock.forward(1_000)
    await world.service.database.statements.together(async (inside) => {
      await inside.run('LOCK TABLE paywall IN ACCESS EXCLUSIVE MODE', [])
      await leaveWhileWaiting(inside, (signal) => fetch(`${gate}/early`, { headers, signal }))
    })
    const other = await world.chain.payer(1_000_000n)
    expect((await world.pay(other, `${gate}/later`)).status).toBe(200)
    expect([requestsTo('/later'), requestsTo('/early')]).toEqual([1, 0])
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  describe('a handler of the middleware that fails midway', () => {
    const failing = () =>
      Readable.from(
        (async function* () {
          yield 'part'
          throw new Error('the source failed')
        })(),
      )
    const page: ErrorRequestHandler = (error, _request, response, next) => {
      if (error.message === 'page') response.status(500).send('Something broke!')
      else next(error)
    }
    const handlers: Record<string, RequestHandler> = {
      next(_request, response, next) {
        response.type('text').write('part')
        setImmediate(() => {
          next(new Error('failed'))
        })
      },
      late(_request, response, next) {
        setImmediate(() => {
          response.write('part')
          next(new Error('failed'))
        })
      },
      destroys: (_request, response) => void setImmediate(() => response.destroy()),
      throws(_request, response) {
        response.write('part')
        throw new Error('failed')
      },
      page(_request, response, next) {
        response.write('part')
        next(new Error('page'))
      },
      source: (_request, response) => void pipeline(failing(), response, () => undefined),
      reported: (_request, response, next) => void pipeline(failing(), response, next),
    }
    let fail = (): void => undefined
    const streams: RequestHandler = (_request, response, next) => {
      response.type('text/event-stream').write('data: one\n\n')
      fail = () => {
        next(new Error('failed'))
      }
    }
    let server: Server
    let origin = ''
    beforeAll(async () => {
      const options = {
        facilitator: `${world.service.origin}/facilitator`,
        recipient: world.recipient,
        network: 'base-sepolia' as const,
        routes: [{ path: '/:how', pricing: { model: 'per-request', amount: 0.05 } as const }],
      }
      const shop = express().set('env', 'test').use(paywall(options))
      for (const [name, handler] of Object.entries(handlers)) shop.get(`/${name}`, handler)
      server = shop.get('/streams', streams).use(page).listen(0)
      await once(server, 'listening')
      origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    })
    afterAll(() => server.close())

    it.each(Object.keys(handlers))('charges nothing (%s)', async (name) => {
      const payer = await world.chain.payer(1_000_000n)
      const headers = await signed(payer, world.chain, await world.request(`${origin}/${name}`))
      const ask = () => world.request(`${origin}/${name}`, { headers })
      for (const failed of [await ask(), await ask()])
        expect([failed.status, failed.body.code]).toEqual([502, 'upstream_error'])
      expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    })

    it('ends the connection of a stream that was paid for', async () => {
      const payer = await world.chain.payer(1_000_000n)
      const headers = await signed(payer, world.chain, await world.request(`${origin}/streams`))
      const response = await fetch(`${origin}/streams`, { headers })
      expect([response.status, await usdcOf(world.chain, payer.address)]).toEqual([200, 950_000n])
      fail()
      await expect(response.text()).rejects.toThrow()
    })
  })

  it('buys nothing from the middleware where it leaves before that', async () => {
    let handled = 0
    const leaving = new AbortController()
    const app = express()
    app.use((request, response, next) => {
      if (request.headers['x-leaves'] === undefined) return next()
      response.once('close', next)
      leaving.abort()
    })
    const pricing = { model: 'per-request', amount: 0.05 } as const
    const { recipient } = world
    const facilitator = `${world.service.origin}/facilitator`
    app.use(paywall({ facilitator, recipient, network: 'base-sepolia', routes: [{ path: '/own', pricing }] }))
    app.get('/own', (_request, response) => {
      handled++
      response.json({})
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/own`
      const [payer, other] = [await world.chain.payer(1_000_000n), await world.chain.payer(1_000_000n)]
      const headers = { ...(await world.sign(payer, await world.request(url))), 'x-leaves': '1' }
      await expect(fetch(url, { headers, signal: leaving.signal })).rejects.toThrow()
      expect((await world.pay(other, url)).status).toBe(200)
      expect(handled).toBe(1)
      expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    } finally {
      server.close()
    }
  })

  it('is charged for a call from its balance', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    const usage = { input_tokens: 1_000, output_tokens: 2_000 }
    world.upstream.on('/chat', (_request, response) => json(response, 200, { usage }))
    const init = { method: 'POST', body: '{}' }
    // Pays in enough for a second call: the first one is cheap.
    const paid = await world.pay(payer, `${gate}/chat`, init)
    expect(paid.status).toBe(200)
    await world.service.database.statements.run(
      'UPDATE paywall_balance SET paid = paid + 200000, available = available + 200000 WHERE payer = $1',
      [payer.address],
    )
    let answerNow = (): void => undefined
    world.upstream.on('/chat', (_request, response) => {
      answerNow = () => json(response, 200, { usage })
    })
    const token = { 'x-payment-token': paid.headers.get('x-payment-token')! }
    await leave(`${gate}/chat`, token, '/chat', init)
    answerNow()
    const row = await until(async () => {
      const one = await balanceOf(payer.address)
      return one?.held === 0n ? one : null
    })
    expect(row).toMatchObject({ drawn: 10_000n })
  })

  it('is charged the usage that a stream reports, also after it left', async () => {
    const { gate } = await world.sell([{ method: 'POST', path: '/stream', pricing: CHAT }])
    const payer = await world.chain.payer(1_000_000n)
    let finish = (): void => undefined
    world.upstream.on('/stream', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n')
      finish = () => response.end('data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50000}}\n\n')
    })
    const init = { method: 'POST', body: '{}' }
    const header = await world.sign(payer, await world.request(`${gate}/stream`, init))
    const controller = new AbortController()
    const response = await fetch(`${gate}/stream`, { ...init, headers: header, signal: controller.signal })
    await response.body!.getReader().read()
    controller.abort()
    await new Promise(setImmediate)
    expect(await balanceOf(payer.address)).toMatchObject({ held: 200_000n, drawn: 0n })
    finish()
    const row = await until(async () => {
      const one = await balanceOf(payer.address)
      return one?.held === 0n ? one : null
    })
    expect(row).toMatchObject({ drawn: 101_000n, available: 99_000n })
  })

  it('is refused with the reason where its authorization lapses before the work can be done', async () => {
    const { gate } = await world.sell([
      { path: '/after', pricing: PRICE },
      { path: '/before', pricing: PRICE, settle: 'before' },
    ])
    const payer = await world.chain.payer(1_000_000n)
    const validBefore = BigInt(Math.floor(world.service.clock.now().getTime() / 1_000) + 60)
    const sign = async (path: string) =>
      await signed(payer, world.chain, await world.request(gate + path), 2, { validBefore })
    const refused = await world.request(`${gate}/after`, { headers: await sign('/after') })
    expect([refused.status, refused.body.reason]).toEqual([402, 'invalid_exact_evm_payload_authorization_valid_before'])
    expect(refused.body.error).toMatch(/validBefore must be at least \d+ seconds from now/)
    expect(refused.body.accepts[0].maxTimeoutSeconds).toBe(300)
    expect(requestsTo('/after')).toBe(0)
    // A call that is paid before it runs needs only the settlement.
    expect((await world.request(`${gate}/before`, { headers: await sign('/before') })).status).toBe(200)
  })

  it('never gets more effects than it pays for, whenever it leaves or repeats', async () => {
    const { gate } = await world.sell([
      { method: 'POST', path: '/effects/after', pricing: PRICE },
      { method: 'POST', path: '/effects/before', pricing: PRICE, settle: 'before' },
    ])
    let effects = 0
    world.upstream.on('/effects', (_request, response) => {
      effects++
      setImmediate(() => json(response, 200, { effects }))
    })
    const act = fc.record({
      path: fc.constantFrom('after', 'before'),
      leavesAfterMs: fc.integer({ min: 0, max: 120 }),
      repeats: fc.integer({ min: 0, max: 2 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 4 }), async (acts) => {
        const payer = await world.chain.payer(1_000_000n)
        const before = effects
        await Promise.all(acts.map((one) => attempt(payer, one)))
        const spent = await until(async () => {
          await world.sweep()
          const open = await world.service.database.statements.run(
            `SELECT 1 FROM sale WHERE payer = $1 AND (state = 'settling' OR state = 'claimed' AND lease_until > now())`,
            [payer.address],
          )
          return open.length > 0 ? null : 1_000_000n - (await usdcOf(world.chain, payer.address))
        })
        expect(effects - before).toBeLessThanOrEqual(Number(spent / 50_000n))
      }),
      { numRuns: 4 },
    )

    async function attempt(payer: TestAccount, { path, leavesAfterMs, repeats }: Act): Promise<void> {
      const url = `${gate}/effects/${path}`
      const init = { method: 'POST', body: '{}' }
      const headers = await world.sign(payer, await world.request(url, init))
      for (let turn = 0; turn <= repeats; turn++) {
        await fetch(url, { ...init, headers, signal: AbortSignal.timeout(leavesAfterMs + 1) })
          .then((response) => response.text())
          .catch(() => null)
      }
    }
  })
})

interface Act {
  path: string
  leavesAfterMs: number
  repeats: number
}
