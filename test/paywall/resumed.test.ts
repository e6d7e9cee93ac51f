import { openWorld as openFacilitator, usdcOf, type World as Honest } from '../facilitator/world.ts'
import { startStrangeFacilitator, type StrangeFacilitator } from './facilitator.ts'
import { openWorld, signed, until, type World } from './world.ts'

/** `other`: this service has a node, but of another network than the gate's. */
describe.each(['none', 'other', 'with a sponsor'] as const)(
  'a payment that another facilitator settles, resumed without its buyer; own node: %s',
  (node) => {
    let honest: Honest
    let world: World
    let facilitator: StrangeFacilitator

    beforeAll(async () => {
      facilitator = await startStrangeFacilitator()
      honest = await openFacilitator()
      facilitator.behind = honest.service.origin
      const { chain } = honest
      world = await openWorld({
        environment: {
          GATE_FACILITATOR_URL: facilitator.url,
          GATE_FACILITATOR_TIMEOUT_MS: '1000',
          SETTLE_WAIT_MS: '1000',
          ...(node === 'other' ? { BASE_RPC_URLS: chain.url } : {}),
          ...(node === 'with a sponsor'
            ? { BASE_SEPOLIA_RPC_URLS: chain.url, SPONSOR_PRIVATE_KEYS: chain.accounts[1]!.privateKey }
            : {}),
        },
      })
    })
    afterAll(async () => {
      await world.close()
      await facilitator.close()
      await honest.close()
    })

    it('is settled by that facilitator, and by no other', async () => {
      const { gate } = await world.sell([{ path: '/secret', pricing: { model: 'per-request', amount: 0.05 } }])
      // The facilitator verifies the payment, and goes away before it is asked to settle.
      world.upstream.on('/secret', (_request, response) => {
        facilitator.mood = 'hangs'
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"worth it"}')
      })
      const payer = await honest.chain.payer(1_000_000n)
      const header = await signed(payer, honest.chain, await world.request(`${gate}/secret`))
      const pending = await world.request(`${gate}/secret`, { headers: header })
      expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })
      expect(await usdcOf(honest.chain, payer.address)).toBe(1_000_000n)

      facilitator.mood = 'honest'
      await until(async () => {
        await world.sweep()
        return (await world.service.paywalls.payment(String(pending.body.paymentId))).state === 'paid'
      })
      expect(facilitator.settled).toBe(1)
      expect(await usdcOf(honest.chain, payer.address)).toBe(950_000n)
    })
  },
)
