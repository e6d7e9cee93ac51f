import express from 'express'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paywall } from '../../service/paywall/middleware/index.ts'
import { openWorld as openFacilitator, usdcOf, type World as Honest } from '../facilitator/world.ts'
import { startStrangeFacilitator, type Mood, type StrangeFacilitator } from './facilitator.ts'
import { encoded } from '../harness/wallet.ts'
import { openWorld, until, type Answer, type World } from './world.ts'
const shops: Record<'gateway' | 'middleware', string> = { gateway: '', middleware: '' }

describe('a caller who does not pay', () => {
  /*
   * However a facilitator behaves, no buyer pays twice, no unpaid request is answered, and a paid request is answered
   * in the end. The same holds at the gateway and in the middleware, which both can ask a chain.
   */

  let honest: Honest
  let world: World
  let strange: StrangeFacilitator
  let server: Server
  let handled = 0

  beforeAll(async () => {
    strange = await startStrangeFacilitator()
    honest = await openFacilitator()
    world = await openWorld({
      chain: honest.chain,
      environment: { GATE_FACILITATOR_URL: strange.url, GATE_FACILITATOR_TIMEOUT_MS: '1000', SETTLE_WAIT_MS: '1000' },
    })
    strange.behind = honest.service.origin
    const pricing = { model: 'per-request' as const, amount: 0.05 }
    shops.gateway = (await world.sell([{ path: '/secret', pricing }])).gate
    world.upstream.on('/secret', (_request, response) => {
      handled += 1
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"worth it"}')
    })
    const app = express()
    app.use(
      paywall({
        facilitator: strange.url,
        rpc: world.chain.url,
        recipient: world.recipient,
        network: 'base-sepolia',
        routes: [{ path: '/secret', pricing }],
        timeoutMs: 1_000,
      }),
    )
    app.get('/secret', (_request, response) => {
      handled += 1
      response.json({ secret: 'worth it' })
    })
    server = await new Promise<Server>((resolve) => {
      const listening = app.listen(0, '127.0.0.1', () => {
        resolve(listening)
      })
    })
    shops.middleware = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await world.close()
    await strange.close()
    await honest.close()
  })

  describe.each(['gateway', 'middleware'] as const)('the %s', (shop) => {
    /** Pays while the facilitator misbehaves; then it is honest, and the request is repeated until it is answered. */
    async function buy(
      mood: Mood,
    ): Promise<{ first: Answer; last: Answer; header: Record<string, string>; left: bigint }> {
      const payer = await world.chain.payer(1_000_000n)
      const url = `${shops[shop]}/secret`
      strange.mood = 'honest'
      const header = await world.sign(payer, await world.request(url))
      strange.mood = mood
      const first = await world.request(url, { headers: header })
      strange.mood = 'honest'
      const last =
        first.status === 200
          ? first
          : await until(async () => {
              const proof = {
                'x-payment-id': String(first.body.paymentId),
                'x-payment-token': String(first.body.paymentToken),
              }
              const answer = await world.request(url, { headers: proof })
              return answer.status === 503 || answer.body?.code === 'payment_processing' ? null : answer
            })
      return { first, last, header, left: await usdcOf(world.chain, payer.address) }
    }

    it.each(['settles-and-hangs', 'settles-and-502', 'settles-and-denies'] as const)(
      'answers the paid call once where the facilitator %s',
      async (mood) => {
        const before = strange.settled
        const { last, header, left } = await buy(mood)
        expect(last).toMatchObject({ status: 200, body: { secret: 'worth it' } })
        expect(left).toBe(950_000n)
        // It may learn of its own settlement after the chain has shown it to all others.
        await until(() => strange.settled > before)
        expect(strange.settled).toBe(before + 1)
        const again = await world.request(`${shops[shop]}/secret`, { headers: header })
        expect(again).toMatchObject({ status: 409, body: { code: 'payment_submitted' } })
      },
    )

    it.each(['invents', 'repeats', 'denies'] as const)(
      'gets nothing before it is paid, where the facilitator %s',
      async (mood) => {
        const { first, last, left } = await buy(mood)
        expect(first.status).toBe(503)
        expect(first.text).not.toContain('worth it')
        expect(first.body).toMatchObject({ code: 'settlement_pending', paymentId: expect.stringMatching(/^pay_/) })
        expect(first.headers.get('retry-after')).toBe('3')
        expect(last).toMatchObject({ status: 200, body: { secret: 'worth it' } })
        expect(left).toBe(950_000n)
      },
    )

    it.each(['hangs', 'garbage'] as const)('is charged nothing where the facilitator %s', async (mood) => {
      const before = handled
      const payer = await world.chain.payer(1_000_000n)
      const url = `${shops[shop]}/secret`
      strange.mood = 'honest'
      const header = await world.sign(payer, await world.request(url))
      strange.mood = mood
      const answer = await world.request(url, { headers: header })
      expect(answer).toMatchObject({ status: 503, body: { code: 'facilitator_unavailable' } })
      expect(handled).toBe(before)
      expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    })

    it('gets nothing for a forged signature that only the facilitator accepts', async () => {
      const url = `${shops[shop]}/secret`
      const payer = await world.chain.payer(1_000_000n)
      strange.mood = 'honest'
      const unpaid = await world.request(url)
      const header = await world.sign(payer, unpaid)
      const payment = JSON.parse(Buffer.from(header['payment-signature']!, 'base64').toString())
      payment.payload.signature = `0x${'11'.repeat(64)}1b`
      const forged = { 'payment-signature': encoded(payment) }
      strange.mood = 'approves-all'
      const answers = [await world.request(url, { headers: forged }), await world.request(url, { headers: forged })]
      for (const answer of answers) {
        expect([409, 503]).toContain(answer.status)
        expect(answer.text).not.toContain('worth it')
      }
      expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    })
  })
})
