import { openWorld, type World } from '../../checkouts/world.ts'

describe('404 checkout_not_found', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  const BROWSER = { accept: 'text/html,*/*;q=0.8' }

  it('for an unknown checkout and an expired one, on every route', async () => {
    const expired = await world.sell({ testMode: true })
    await world.seller.call('DELETE', `/v1/checkouts/${expired.id}`)
    for (const id of ['chk_nothing', `chk_${'0'.repeat(26)}`, 'x'.repeat(3000), '%01', expired.id]) {
      const answers = [
        await world.call('GET', `/p/${id}`),
        await world.call('POST', `/p/${id}`, { body: {} }),
        await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } }),
      ]
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'checkout_not_found' } })
    }
  })

  it('is a page for a browser', async () => {
    const { status, headers, text } = await world.call('GET', '/p/chk_nothing', { headers: BROWSER })
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toContain('<html')
  })

  it('a payment has its page at its own checkout only', async () => {
    const [one, other] = [await world.sell({ testMode: true }), await world.sell({ testMode: true })]
    const { body } = await world.call('POST', `/p/${one.id}/pay`, { body: { input: {}, simulate: true } })
    const pay: string = body.payment.id
    expect((await world.call('GET', `/p/${one.id}/payments/${pay}`)).status).toBe(200)
    for (const path of [`/p/${other.id}/payments/${pay}`, `/p/${one.id}/payments/pay_nothing`]) {
      expect(await world.call('GET', path)).toMatchObject({ status: 404, body: { code: 'payment_not_found' } })
      const events = await world.call('GET', path, { headers: { accept: 'text/event-stream' } })
      expect(events.status).toBe(404)
    }
  })

  it('a payment remains readable after its checkout has ended', async () => {
    const { id } = await world.sell({ testMode: true })
    const { body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    const path = `/p/${id}/payments/${String(body.payment.id)}`
    expect((await world.call('GET', path)).body).toMatchObject({ payment: { status: 'paid' } })
    const page = await world.call('GET', path, { headers: BROWSER })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<html')
  })
})
