import { openWorld, signed } from '../../checkouts/world.ts'
import { startChain } from '../../harness/chain.ts'

describe('POST /p/{chk}/pay: 503', () => {
  it('without a chain to read: nothing is charged, nothing is written', async () => {
    const [world, chain] = await Promise.all([openWorld({ works: false }), startChain()])
    const { id } = await world.sell()
    const { body } = await world.call('GET', `/p/${id}`)
    const requirements = body.paymentRequirements as Parameters<typeof signed>[2]
    const paymentPayload = await signed(await chain.payer(5_000_000n), chain, requirements)
    const answer = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
    expect(answer).toMatchObject({ status: 503, body: { code: 'network_unavailable' } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
    await world.close()
    await chain.stop()
  })
})
