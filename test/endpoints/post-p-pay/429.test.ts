import { openWorld } from '../../checkouts/world.ts'

describe('POST /p/{chk}/pay: 429', () => {
  it('asked too often by one address; reading has its own count', async () => {
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
