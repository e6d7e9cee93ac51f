import { openWorld, type World } from '../../checkouts/world.ts'

describe('POST /p/{chk}/pay: 402 and 410, with the reason, and nothing is charged', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false, chain: true })
  })
  afterAll(() => world.close())

  it.each([
    ['too little money', 999_999n, {}, 'invalid_exact_evm_insufficient_balance'],
    ['too little authorized', 5_000_000n, { value: '999999' }, 'invalid_exact_evm_signature'],
    ['another recipient', 5_000_000n, { to: `0x${'1'.repeat(40)}` }, 'invalid_exact_evm_signature'],
  ])('%s', async (_, usdc, change, reason) => {
    const { id } = await world.sell()
    const paymentPayload = (await world.sign(await world.chain.payer(usdc), id)) as {
      payload: { authorization: Record<string, string> }
    }
    Object.assign(paymentPayload.payload.authorization, change)
    const answer = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
    expect(answer).toMatchObject({ status: 402, body: { code: 'payment_refused', reason } })
    expect(answer.body.error).toMatch(/Nothing was charged\.$/)
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
  })

  it('410 for an authorization whose time is over', async () => {
    const { id } = await world.sell()
    const paymentPayload = await world.sign(await world.chain.payer(5_000_000n), id)
    world.service.clock.forward(36_001_000)
    const answer = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
    expect(answer).toMatchObject({ status: 410, body: { code: 'payment_expired' } })
  })
})
