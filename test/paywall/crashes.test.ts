import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

describe('a paid call goes on after its process was killed', () => {
  /*
   * If a process dies between any two steps of a payment, other processes finish it: no buyer pays twice or for
   * nothing, and a paid request is answered.
   */

  let world: World
  let dies: string | null = null
  beforeAll(async () => {
    world = await openWorld({
      chain: true,
      failpoints: {
        reach(step) {
          if (step !== dies) return undefined
          dies = null
          // A dead process sends nothing more; the client closes the connection.
          return new Promise(() => undefined)
        },
      },
    })
  })
  afterAll(() => world.close())

  it.each(['sale claimed', 'sale settling', 'sale settled', 'sale paid'] as const)('after %s', async (step) => {
    const { gate } = await world.sell([{ path: '/x', pricing: { model: 'per-request', amount: 0.05 } }])
    const payer = await world.chain.payer(1_000_000n)
    const signed = await world.sign(payer, await world.request(`${gate}/x`))
    // Chosen by the buyer: the signature alone fetches nothing once it may be visible on chain.
    const header = { ...signed, 'x-payment-token': `tok_${'t'.repeat(43)}` }
    dies = step
    const controller = new AbortController()
    const pendingRequest = world.request(`${gate}/x`, { headers: header, signal: controller.signal })
    await until(() => dies === null)
    controller.abort()
    await expect(pendingRequest).rejects.toThrow()
    expect((await world.request(`${gate}/x`, { headers: header })).body.code).toBe('payment_processing')
    // The dead process's lease ends, and the sweeper runs.
    world.service.clock.forward(240_000)
    await world.sweep()
    const answer = await world.request(`${gate}/x`, { headers: header })
    expect(answer).toMatchObject({ status: 200, body: { url: '/x' } })
    expect((await world.request(`${gate}/x`, { headers: header })).status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('after its claim: another caller who submits its authorization does not get its success', async () => {
    const { gate } = await world.sell([{ path: '/x', pricing: { model: 'per-request', amount: 0.05 } }])
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(`${gate}/x`)
    const signed = await world.sign(payer, unpaid, 1)
    const headers = { ...signed, 'x-payment-token': `tok_${'s'.repeat(43)}` }
    dies = 'sale claimed'
    const controller = new AbortController()
    const pendingRequest = world.request(`${gate}/x`, { headers, signal: controller.signal })
    await until(() => dies === null)
    controller.abort()
    await expect(pendingRequest).rejects.toThrow()
    const paymentPayload = JSON.parse(Buffer.from(signed['x-payment'] ?? '', 'base64').toString()) as unknown
    const body = { x402Version: 1, paymentPayload, paymentRequirements: unpaid.body.accepts[0] as unknown }
    const stranger = world.service.call('POST', '/facilitator/settle', { body })
    await until(async () => (await usdcOf(world.chain, payer.address)) === 950_000n)
    world.service.clock.forward(240_000)
    await world.sweep()
    expect(await world.request(`${gate}/x`, { headers })).toMatchObject({ status: 200, body: { url: '/x' } })
    expect((await stranger).body.success).not.toBe(true)
  })
})
