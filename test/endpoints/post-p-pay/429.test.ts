import { openWorld } from '../../checkouts/world.ts'

describe('POST /p/{chk}/pay: 429', () => {
  it('after too many payments from one address; reading has a limit of its own', async () => {
    const world = await openWorld({ works: false, environment: { RATE_PAY_PER_MINUTE: '3' } })
    const { id } = await world.sell({ testMode: true })
    const pay = () => world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    for (let count = 0; count < 3; count++) expect((await pay()).status).toBe(200)
    const { status, headers } = await pay()
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await world.call('GET', `/p/${id}`)).status).toBe(200)
    await world.close()
  })
})
